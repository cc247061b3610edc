import { z } from 'zod';
import { customerOf } from '../../store/records/customer-id.js';
import type { KeyRecord } from '../../store/records/key.js';
import { notItsOwn } from '../customers/of-key.js';
import { changeTo, differences, KEY_FIELDS, type Change } from '../edits.js';
import { keyFields, limitsOn, name, nothingIn, readFields, status, type Body, type FieldRules } from '../fields.js';
import { KeyRefused } from '../refused.js';

/** The body that changes a key; omitted fields stay. */
export const keyChange = (rules: FieldRules) => ({
  ...keyFields(rules),
  name: name.optional(),
  status: status.optional(),
});
const NOT_MOVED = {
  customer: z.never("a key can't be moved, because its id contains its customer; create another key").optional(),
};

/** Returns the changed record; null if nothing changes. Throws KeyRefused. */
export function changed(record: KeyRecord, body: Body, rules: FieldRules): Change<KeyRecord> | null {
  refuseRevoked(record);
  const known = keyChange({ ...rules, has: record.plan });
  const problems = [...(customerOf(record.id) === null ? [] : notItsOwn(body)), ...nothingIn(body, known)];
  const { expires, ...fields } = readFields(body, { ...known, ...NOT_MOVED }, problems);
  const expiresAtMs = expires === undefined ? record.expiresAtMs : expires;
  const plan = rules.plans.get(fields.plan ?? record.plan);
  // A problem with the plan or the limits themselves is reported once, not twice.
  const own = problems.length > 0 ? null : limitsOn(plan, fields.limits, record.limits, rules.costs, problems);
  if (problems.length > 0) throw new KeyRefused('invalid', problems);
  const next = { ...record, ...fields, expiresAtMs, limits: own };
  return changeTo(next, 'changed', differences(record, next, KEY_FIELDS));
}

/** Returns the revoked record; null if it is revoked already. */
export function revoked(record: KeyRecord): Change<KeyRecord> | null {
  const next: KeyRecord = { ...record, status: 'revoked', secrets: [] };
  return changeTo(next, 'revoked', differences(record, next, ['status']));
}

/** Throws KeyRefused. */
export function refuseRevoked({ status }: KeyRecord): void {
  if (status === 'revoked')
    throw new KeyRefused('conflict', ['the key is revoked, and that is final; create a new one']);
}

/** Throws KeyRefused for a customer's key, which has the customer's limits. */
export function refuseCustomers({ id }: KeyRecord): void {
  const customer = customerOf(id);
  if (customer !== null)
    throw new KeyRefused('conflict', [
      `the limits of this key are its customer's: petgate customers grant ${customer}`,
    ]);
}
