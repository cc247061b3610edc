import { customerOf } from '../store/records/customer-id.js';
import type { KeyRecord } from '../store/records/key.js';
import { problemsOfChange } from './customers/of-key.js';
import { differences, isoOrNull } from './edits.js';
import type { Change } from './edits.js';
import { limitsOn, readFields } from './fields.js';
import type { Body, FieldRules, Prices } from './fields.js';
import { KeyRefused } from './refused.js';

const FIELDS = ['plan', 'name', 'note', 'limits', 'scopes', 'expires', 'status'];
/** In the order in which history shows them, before `expires`. */
const HISTORY_FIELDS = ['plan', 'name', 'note', 'status', 'limits', 'scopes'] as const;

/**
 * The record as `body` asks for it; null when that is how it is. Throws KeyRefused.
 * @param body some of `{plan, name, note, limits, scopes, expires, status}`
 */
export function changed(record: KeyRecord, body: Body, rules: FieldRules & Prices): Change<KeyRecord> | null {
  refuseRevoked(record);
  const problems = [...problemsOfChange(record, body)];
  const fields = readFields(body, [...FIELDS, 'customer'], { ...rules, has: record.plan }, problems);
  if (Object.keys(body).length === 0) problems.push(`nothing to change: send one or more of ${FIELDS.join(', ')}`);
  const plan = rules.plans.get(fields.plan ?? record.plan);
  // A problem with the plan or the limits themselves is reported once, not twice.
  const limits = problems.length > 0 ? null : limitsOn(plan, fields.limits, record.limits, rules, problems);
  if (problems.length > 0) throw new KeyRefused('invalid', problems);
  const next = { ...record, ...fields, limits };
  const what = changesOf(record, next);
  return Object.keys(what).length === 0 ? null : { next, action: 'changed', changed: what };
}

/** The record revoked; null when it is already. */
export function revoked(record: KeyRecord): Change<KeyRecord> | null {
  if (record.status === 'revoked') return null;
  return {
    next: { ...record, status: 'revoked', secrets: [] },
    action: 'revoked',
    changed: { status: { from: record.status, to: 'revoked' } },
  };
}

/** Throws KeyRefused. */
export function refuseRevoked({ status }: KeyRecord): void {
  if (status === 'revoked')
    throw new KeyRefused('conflict', ['the key is revoked, and that is final; create a new one']);
}

/** Throws KeyRefused for a key that has its limits from a customer. */
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
