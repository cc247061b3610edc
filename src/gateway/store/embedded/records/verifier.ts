import { customerOf } from '../../records/customer-id.js';
import type { CustomerRecord } from '../../records/customer.js';
import type { KeyRecord } from '../../records/key.js';
import { withGrants } from '../../records/grant.js';
import { termsOf, type Plans, type Terms } from '../../../admission/plan.js';
import type { AdmissionRequest } from '../../../admission/port.js';
import type { UnknownReason } from '../../../admission/verdict.js';
import { customerRow, recordRow } from '../files/rows.js';
import type { Stores } from '../owner/stores.js';

/** A valid key and the terms that apply to it. */
export interface ValidKey {
  readonly record: KeyRecord;
  readonly terms: Terms;
  /** The customer whose buckets it spends from; null if it has its own. */
  readonly customerId: string | null;
}

/** Decides which keys are valid under the current plans. */
export interface KeyVerifier {
  plans: Plans;
  verify(id: string, secretHash: string, nowMs: number, request: AdmissionRequest): ValidKey | UnknownReason;
}

interface Decoded<R> {
  readonly bytes: Buffer;
  readonly record: R;
  /** Its own terms, without grants; undefined if it has none. */
  readonly terms: Terms | undefined;
  readonly customerId: null;
  /** The version of all records at the last comparison with the store. */
  version: number;
}

const MAX_DECODED = 131_072;

/**
 * Decoded records of one type. One is read again once any record has changed since, and decoded again only if its bytes
 * have changed: the cache holds decoded records, never permissions.
 */
function decodedRecords<R extends KeyRecord | CustomerRecord>(
  stores: Stores,
  rowOf: (id: string) => string,
  termsOf: (record: R) => Terms | undefined,
) {
  const all = new Map<string, Decoded<R>>();
  const get = (id: string): Decoded<R> | undefined => {
    const { durable, recordsVersion: version } = stores;
    const known = all.get(id);
    if (known?.version === version) return known;
    const stored = durable.getBinaryFast(rowOf(id));
    if (stored === undefined) return undefined;
    if (known !== undefined && isSame(known.bytes, stored)) {
      known.version = version;
      return known;
    }
    const bytes = Buffer.from(stored.subarray(0, stored.length));
    const record = JSON.parse(bytes.toString()) as R;
    const decoded = { bytes, record, terms: termsOf(record), customerId: null, version };
    if (known === undefined && all.size >= MAX_DECODED) all.delete(all.keys().next().value!);
    all.set(id, decoded);
    return decoded;
  };
  return { get, clear: () => all.clear() };
}

/** Compares with bytes from lmdb, which may be in a larger buffer that lmdb reuses. */
function isSame(kept: Buffer, bytes: Buffer): boolean {
  return kept.length === bytes.length && kept.compare(bytes, 0, bytes.length) === 0;
}

/** Verifies by the records in the file. Status comes first, so that a revoked key is called revoked. */
export function storedKeyVerifier(stores: Stores, plans: Plans): KeyVerifier {
  let inForce = plans;
  const ownTerms = ({ plan, limits, credited }: KeyRecord | CustomerRecord): Terms | undefined =>
    termsOf(inForce, plan, limits, credited);
  const keys = decodedRecords<KeyRecord>(stores, recordRow, (key) =>
    customerOf(key.id) === null ? ownTerms(key) : undefined,
  );
  const customers = decodedRecords<CustomerRecord>(stores, customerRow, ownTerms);
  return {
    get plans() {
      return inForce;
    },
    set plans(plans) {
      inForce = plans;
      keys.clear();
      customers.clear();
    },
    verify(id, secretHash, nowMs) {
      const key = keys.get(id);
      if (key === undefined) return 'unknown';
      const { record } = key;
      const reason = whyInvalid(record, secretHash, nowMs);
      if (reason !== undefined) return reason;
      // A grant ends without a change of the record, so the cached terms exclude grants.
      if (hasTerms(key))
        return record.grants === undefined ? key : { ...key, terms: withGrants(key.terms, record.grants, nowMs) };
      const customerId = customerOf(id);
      if (customerId === null) return 'no_plan';
      const customer = customers.get(customerId);
      const terms = customer?.terms && withGrants(customer.terms, customer.record.grants, nowMs);
      return validKeyOf(record, customer?.record, terms);
    },
  };
}

function hasTerms(key: Decoded<KeyRecord>): key is Decoded<KeyRecord> & ValidKey {
  return key.terms !== undefined;
}

/**
 * Returns a customer's key that is valid by its own record, or why its customer makes it invalid.
 * @param terms those of the customer's record; undefined if its plan does not exist
 */
export function validKeyOf(
  record: KeyRecord,
  customer: CustomerRecord | undefined,
  terms: Terms | undefined,
): ValidKey | UnknownReason {
  if (customer === undefined) return 'unknown';
  if (customer.status !== 'enabled') return customer.status;
  return terms === undefined ? 'no_plan' : { record, terms, customerId: customer.id };
}

/** Returns why the key with this secret is invalid by its own record; undefined if it is valid. */
export function whyInvalid(record: KeyRecord, secretHash: string, nowMs: number): UnknownReason | undefined {
  if (record.status !== 'enabled') return record.status;
  for (const { hash, endsAtMs } of record.secrets) {
    if (hash === secretHash)
      return isOver(endsAtMs, nowMs) || isOver(record.expiresAtMs, nowMs) ? 'expired' : undefined;
  }
  return 'unknown';
}

function isOver(endMs: number | null, nowMs: number): boolean {
  return endMs !== null && nowMs >= endMs;
}
