import { DAY_MS } from '../../admission/bucket.js';
import type { CustomerRecord } from '../records/customer.js';
import type { KeyRecord } from '../records/key.js';

/**
 * A key as Redis had it at `seenAtMs`, by this machine's clock. That clock may have been set since, so a copy more than
 * `FRESH_MS` from now, in either direction, is stale. `record.version` tells which of two copies is newer.
 */
export interface CachedKey {
  readonly seenAtMs: number;
  readonly record: KeyRecord;
  /** The ban in force at that time. */
  readonly ban: { readonly untilMs: number; readonly level: number } | null;
  /** Redis lost the record, and an operator accepted that: if an older one returns, this copy is written back. */
  readonly isLost?: true;
}

/** The same for a customer: its keys are known only while both are. */
export interface CachedCustomer {
  readonly seenAtMs: number;
  readonly record: CustomerRecord;
  readonly isLost?: true;
}
export type Cached = CachedKey | CachedCustomer;

const FRESH_MS = DAY_MS;
/** How long to keep copies that are not enabled: a Redis restored from a snapshot this old must not enable them. */
const ENDED_MS = 40 * DAY_MS;

export const cachedKeyRow = (id: string): string => `c${id}`;

export function decoded(bytes: Buffer): Cached {
  return JSON.parse(bytes.toString()) as Cached;
}

export function isFresh({ seenAtMs }: Cached): boolean {
  return Math.abs(Date.now() - seenAtMs) < FRESH_MS;
}

/** Returns the copy, marked as too old to decide by: its record has changed in an unknown way. */
export function expired<C extends Cached>(copy: C): C {
  return { ...copy, seenAtMs: Date.now() - FRESH_MS };
}

/** Returns whether the copy can be deleted without losing anything. */
export function isOver(cached: Cached): boolean {
  const keptMs = cached.record.status === 'enabled' ? FRESH_MS : ENDED_MS;
  return Math.abs(Date.now() - cached.seenAtMs) >= keptMs;
}

/** Returns the record without personal data, which copies do not need and an isolated gateway could not erase. */
export function redacted<T extends Cached['record']>(record: T): T {
  const { grants } = record;
  const bare = { ...record, name: '', note: '' };
  return grants === undefined ? bare : { ...bare, grants: grants.map((grant) => ({ ...grant, note: '' })) };
}
