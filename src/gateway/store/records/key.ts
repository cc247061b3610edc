import type { Limits } from '../../admission/bucket.js';
import type { Grant } from './grant.js';

export type KeyStatus = 'enabled' | 'disabled' | 'revoked';

/** SHA-256 of one secret, base64url; `endsAtMs` is when it stops to be good, null for never. */
export interface SecretHash {
  readonly hash: string;
  readonly endsAtMs: number | null;
}

/** All that is known of a key. The key itself is nowhere: only hashes of its secrets. */
export interface KeyRecord {
  readonly id: string;
  /** Empty on a customer's key: plan and limits are the customer's. */
  readonly plan: string;
  readonly name: string;
  readonly note: string;
  readonly status: KeyStatus;
  readonly createdAtMs: number;
  readonly expiresAtMs: number | null;
  /** What the key may do; null is everything. */
  readonly scopes: readonly string[] | null;
  /** Own limits, on a plan whose limits are `custom`. */
  readonly limits: Limits | null;
  /** Left out where there never were any. Those that are over stay until the next change. */
  readonly grants?: readonly Grant[];
  /** One secret, or two during a rotation; none when revoked. */
  readonly secrets: readonly SecretHash[];
  /** Grows by one with each change: a change names the version it saw, and loses when another came first. */
  readonly version: number;
}

/**
 * One line of the history of a key or a customer. `changed` holds what the change set, never a secret or its hash;
 * in a change of what was there before, `{from, to}` by field.
 */
export interface AuditEntry {
  readonly atMs: number;
  /** Who did it: `admin-api`, or the name the caller gave. */
  readonly actor?: string;
  readonly action:
    | 'created'
    | 'imported'
    | 'changed'
    | 'rotated'
    | 'revoked'
    | 'banned'
    | 'lifted'
    | 'closed'
    | 'granted'
    | 'withdrawn'
    | 'erased';
  readonly changed: Readonly<Record<string, unknown>>;
}
