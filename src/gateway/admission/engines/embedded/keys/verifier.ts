import type { KeyRecord } from '../../../key-record.js';
import { termsOf } from '../../../plan.js';
import type { Plans, Terms } from '../../../plan.js';
import type { AdmissionRequest } from '../../../port.js';
import type { UnknownReason } from '../../../verdict.js';
import { recordRow, RECORDS_VERSION } from '../files/rows.js';
import { committedBytes } from './staged.js';
import { doubleIn } from '../files/store.js';
import type { Stores } from '../files/stores.js';

/** A key record as stored, decoded. */
interface Decoded {
  readonly bytes: Buffer;
  readonly record: KeyRecord;
  /** What it says of the key if that is good. */
  readonly good: GoodKey | undefined;
  /** The version of all records when it was compared with the store last. */
  version: number;
}
/** A key that is good, with what binds it. */
export interface GoodKey {
  readonly record: KeyRecord;
  readonly terms: Terms;
}

/** Says which keys are good, by the plans in force. */
export interface KeyVerifier {
  plans: Plans;
  /** To be called in each transaction, before `verify`. */
  begin(): void;
  verify(id: string, secretHash: string, nowMs: number, request: AdmissionRequest): GoodKey | UnknownReason;
}

const DECODED_MOST = 131_072;

/**
 * Finds key records and says whether a key is good. In each transaction the version of all records is read from
 * the store. A record is read again only when that changed, and decoded again only when its bytes did: what is
 * kept is the decoding, never the permission.
 */
export class StoredKeyVerifier implements KeyVerifier {
  readonly #stores: Stores;
  readonly #decoded = new Map<string, Decoded>();
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
  }

  begin(): void {
    this.#version = doubleIn(this.#stores.durable, RECORDS_VERSION);
  }

  /** The good key, or why it is not good. Status first, so that a revoked key is called revoked. */
  verify(id: string, secretHash: string, nowMs: number): GoodKey | UnknownReason {
    const known = this.#decoded.get(id);
    const decoded = known?.version === this.#version ? known : this.#read(id);
    if (decoded === undefined) return 'unknown';
    return unfitness(decoded.record, secretHash, nowMs) ?? decoded.good ?? 'no_plan';
  }

  #read(id: string): Decoded | undefined {
    const { durable } = this.#stores;
    const bytes = durable.getBinaryFast(recordRow(id)) ?? committedBytes(durable, id);
    if (bytes === undefined) return undefined;
    const known = this.#decoded.get(id);
    if (
      known !== undefined &&
      known.bytes.length === bytes.length &&
      known.bytes.compare(bytes, 0, bytes.length) === 0
    ) {
      known.version = this.#version;
      return known;
    }
    const copy = Buffer.from(bytes.subarray(0, bytes.length));
    const record = JSON.parse(copy.toString()) as KeyRecord;
    const terms = termsOf(this.#plans, record.plan, record.limits);
    const decoded = { bytes: copy, record, good: terms && { record, terms }, version: this.#version };
    this.#keep(id, decoded);
    return decoded;
  }

  #keep(id: string, decoded: Decoded): void {
    if (this.#decoded.size >= DECODED_MOST && !this.#decoded.has(id)) {
      const oldest = this.#decoded.keys().next();
      if (oldest.done !== true) this.#decoded.delete(oldest.value);
    }
    this.#decoded.set(id, decoded);
  }
}

/** Why the key with this secret is not good; undefined when nothing speaks against it. */
export function unfitness(record: KeyRecord, secretHash: string, nowMs: number): UnknownReason | undefined {
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
