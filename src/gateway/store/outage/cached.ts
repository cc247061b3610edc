import { DAY_MS } from '../../admission/bucket.js';
import { CUSTOMER_ID_LENGTH } from '../records/customer-id.js';
import type { CustomerRecord } from '../records/customer.js';
import type { KeyRecord } from '../records/key.js';

/**
 * A key as Redis had it at `seenAtMs`. That is this machine's clock, which may have been set since: further
 * than `FRESH_MS` from now, on either side, it says nothing any more. Which of two is newer, `record.version` says.
 */
export interface CachedKey {
  readonly seenAtMs: number;
  readonly record: KeyRecord;
  /** The ban in force then. */
  readonly ban: { readonly untilMs: number; readonly level: number } | null;
  /** Redis lost the record, and an operator accepted that: where it comes back older, the copy is written back. */
  readonly isLost?: true;
}

/** The same of a customer: a key of it is known here as long as both are. */
export interface CachedCustomer {
  readonly seenAtMs: number;
  readonly record: CustomerRecord;
  readonly isLost?: true;
}
export type Cached = CachedKey | CachedCustomer;

const FRESH_MS = DAY_MS;
/** Of what is not valid any more: a Redis that is restored from a snapshot so old may not make it valid again. */
const ENDED_MS = 40 * DAY_MS;

/** Of a key or a customer: their ids differ in length. */
export const cachedKeyRow = (id: string): string => `c${id}`;

export function isCustomer(id: string): boolean {
  return id.length === CUSTOMER_ID_LENGTH;
}

export function decoded(bytes: Buffer): Cached {
  return JSON.parse(bytes.toString()) as Cached;
}

export function isFresh({ seenAtMs }: Cached): boolean {
  return Math.abs(Date.now() - seenAtMs) < FRESH_MS;
}

/** The copy of what has changed since, nobody here knows how: too old to decide by. */
export function expired<C extends Cached>(copy: C): C {
  return { ...copy, seenAtMs: Date.now() - FRESH_MS };
}

/** Whether nothing is lost with it. */
export function isOver(cached: Cached): boolean {
  const keptMs = cached.record.status === 'enabled' ? FRESH_MS : ENDED_MS;
  return Math.abs(Date.now() - cached.seenAtMs) >= keptMs;
}

/** No copy says who somebody is: nobody asks that here, and it could not be erased on a gateway that is cut off. */
export function nameless<T extends Cached['record']>(record: T): T {
  const { grants } = record;
  const bare = { ...record, name: '', note: '' };
  return grants === undefined ? bare : { ...bare, grants: grants.map((grant) => ({ ...grant, note: '' })) };
}
