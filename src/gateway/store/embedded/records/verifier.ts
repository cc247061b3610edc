import { customerOf } from '../../records/customer-id.js';
import type { CustomerRecord } from '../../records/customer.js';
import type { KeyRecord } from '../../records/key.js';
import { withGrants } from '../../records/grant.js';
import { termsOf, type Plans, type Terms } from '../../../admission/plan.js';
import type { AdmissionRequest } from '../../../admission/port.js';
import type { UnknownReason } from '../../../admission/verdict.js';
import { customerRow, recordRow } from '../files/rows.js';
import type { Stores } from '../stores.js';

/** A decoded key record. */
interface Decoded {
  readonly bytes: Buffer;
  readonly record: KeyRecord;
  /** The key with its own terms, without grants; undefined if it has no terms of its own. */
  readonly valid: ValidKey | undefined;
  /** The version of all records at the last comparison with the store. */
  version: number;
}
/** A valid key and the terms that apply to it. */
export interface ValidKey {
  readonly record: KeyRecord;
  readonly terms: Terms;
  /** The customer whose buckets it spends from; null if it has its own. */
  readonly customerId: string | null;
}
/** A decoded customer record. */
interface DecodedCustomer {
  readonly bytes: Buffer;
  readonly record: CustomerRecord;
  readonly terms: Terms | undefined;
  version: number;
}

/** Decides which keys are valid under the current plans. */
export interface KeyVerifier {
  plans: Plans;
  /** Must be called in each transaction before `verify`. */
  begin(): void;
  verify(id: string, secretHash: string, nowMs: number, request: AdmissionRequest): ValidKey | UnknownReason;
}

const MAX_DECODED = 131_072;

/**
 * Checks keys against the stored records. A record is read again once any record has changed since, and decoded again
 * only if its bytes have changed: the cache holds decoded records, never permissions.
 */
export class StoredKeyVerifier implements KeyVerifier {
  readonly #stores: Stores;
  readonly #decoded = new Map<string, Decoded>();
  readonly #customers = new Map<string, DecodedCustomer>();
  #plans: Plans;
  #version = 0;

  constructor(stores: Stores, plans: Plans) {
    this.#stores = stores;
    this.#plans = plans;
  }

  get plans(): Plans {
    return this.#plans;
  }

  set plans(plans: Plans) {
    this.#plans = plans;
    this.#decoded.clear();
    this.#customers.clear();
  }

  begin(): void {
    this.#version = this.#stores.recordsVersion;
  }

  /** Returns the valid key, or why it is invalid. Status comes first, so that a revoked key is called revoked. */
  verify(id: string, secretHash: string, nowMs: number): ValidKey | UnknownReason {
    const known = this.#decoded.get(id);
    const decoded = known?.version === this.#version ? known : this.#read(id);
    if (decoded === undefined) return 'unknown';
    const { record, valid } = decoded;
    const reason = whyInvalid(record, secretHash, nowMs);
    if (reason !== undefined) return reason;
    if (valid === undefined) return this.#ofCustomer(record, nowMs);
    // A grant ends without a change of the record, so the cached terms exclude grants.
    return record.grants === undefined ? valid : { ...valid, terms: withGrants(valid.terms, record.grants, nowMs) };
  }

  /** Verifies a key without terms of its own. */
  #ofCustomer(record: KeyRecord, nowMs: number): ValidKey | UnknownReason {
    const customerId = customerOf(record.id);
    if (customerId === null) return 'no_plan';
    const customer = this.#customer(customerId);
    const terms = customer?.terms && withGrants(customer.terms, customer.record.grants, nowMs);
    return validKeyOf(record, customer?.record, terms);
  }

  #customer(id: string): DecodedCustomer | undefined {
    const known = this.#customers.get(id);
    return known?.version === this.#version ? known : this.#readCustomer(id);
  }

  #readCustomer(id: string): DecodedCustomer | undefined {
    const stored = this.#stores.durable.getBinaryFast(customerRow(id));
    return this.#decode(this.#customers, id, stored, (bytes, version) => {
      const record = JSON.parse(bytes.toString()) as CustomerRecord;
      const terms = termsOf(this.#plans, record.plan, record.limits, record.credited);
      return { bytes, record, terms, version };
    });
  }

  #read(id: string): Decoded | undefined {
    const stored = this.#stores.durable.getBinaryFast(recordRow(id));
    return this.#decode(this.#decoded, id, stored, (bytes, version) => {
      const record = JSON.parse(bytes.toString()) as KeyRecord;
      const { plan, limits, credited } = record;
      const terms = customerOf(id) === null ? termsOf(this.#plans, plan, limits, credited) : undefined;
      return { bytes, record, valid: terms && { record, terms, customerId: null }, version };
    });
  }

  /** Returns the cached decoded record if its bytes are these, otherwise decodes it again. */
  #decode<D extends { readonly bytes: Buffer; version: number }>(
    all: Map<string, D>,
    id: string,
    stored: Buffer | undefined,
    decode: (bytes: Buffer, version: number) => D,
  ): D | undefined {
    if (stored === undefined) return undefined;
    const known = all.get(id);
    if (known !== undefined && isSame(known.bytes, stored)) {
      known.version = this.#version;
      return known;
    }
    const decoded = decode(Buffer.from(stored.subarray(0, stored.length)), this.#version);
    keep(all, id, decoded);
    return decoded;
  }
}

/** Compares with bytes from lmdb, which may be in a larger buffer that lmdb reuses. */
function isSame(kept: Buffer, bytes: Buffer): boolean {
  return kept.length === bytes.length && kept.compare(bytes, 0, bytes.length) === 0;
}

function keep<T>(all: Map<string, T>, id: string, decoded: T): void {
  if (all.size >= MAX_DECODED && !all.has(id)) {
    const oldest = all.keys().next();
    if (oldest.done !== true) all.delete(oldest.value);
  }
  all.set(id, decoded);
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
