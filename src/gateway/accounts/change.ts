import { z } from 'zod';
import { customerOf } from '../store/records/customer-id.js';
import type { KeyRecord } from '../store/records/key.js';
import { problemsOfChange } from './customers/of-key.js';
import { changeTo, differences, isoOrNull, type Change } from './edits.js';
import {
  expiresAfter,
  limits,
  limitsOn,
  name,
  note,
  nothingIn,
  planIn,
  readFields,
  scopesIn,
  status,
} from './fields.js';
import type { Body, FieldRules, Prices } from './fields.js';
import { KeyRefused } from './refused.js';

/** The body that changes a key; omitted fields stay. */
export const keyChange = (rules: FieldRules) => ({
  plan: planIn(rules).optional(),
  name: name.optional(),
  note: note.optional(),
  limits: limits.optional(),
  scopes: scopesIn(rules).optional(),
  expires: expiresAfter(rules.nowMs).optional(),
  status: status.optional(),
});
const NOT_MOVED = {
  customer: z.never("a key can't be moved, because its id contains its customer; create another key").optional(),
};
/** In the order of the history, before `expires`. */
const HISTORY_FIELDS = ['plan', 'name', 'note', 'status', 'limits', 'scopes'] as const;

/** Returns the changed record; null if nothing changes. Throws KeyRefused. */
export function changed(record: KeyRecord, body: Body, rules: FieldRules & Prices): Change<KeyRecord> | null {
  refuseRevoked(record);
  const known = keyChange({ ...rules, has: record.plan });
  const problems = [...problemsOfChange(record, body), ...nothingIn(body, known)];
  const { expires, ...fields } = readFields(body, { ...known, ...NOT_MOVED }, problems);
  const expiresAtMs = expires === undefined ? record.expiresAtMs : expires;
  const plan = rules.plans.get(fields.plan ?? record.plan);
  // A problem with the plan or the limits themselves is reported once, not twice.
  const own = problems.length > 0 ? null : limitsOn(plan, fields.limits, record.limits, rules, problems);
  if (problems.length > 0) throw new KeyRefused('invalid', problems);
  const next = { ...record, ...fields, expiresAtMs, limits: own };
  return changeTo(next, 'changed', changesOf(record, next));
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

function changesOf(record: KeyRecord, next: KeyRecord): Record<string, unknown> {
  const what = differences(record, next, HISTORY_FIELDS);
  if (record.expiresAtMs !== next.expiresAtMs)
    what['expires'] = { from: isoOrNull(record.expiresAtMs), to: isoOrNull(next.expiresAtMs) };
  return what;
}
