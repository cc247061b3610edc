import type { Limits } from '../../admission/bucket.js';
import type { Grant } from './grant.js';
import type { StoredRecord } from './record.js';

export type KeyStatus = 'enabled' | 'disabled' | 'revoked';

/** SHA-256 of one secret, base64url; `endsAtMs` is when it stops to be good, null for never. */
export interface SecretHash {
  readonly hash: string;
  readonly endsAtMs: number | null;
}

/** All that is known of a key. The key itself is nowhere: only hashes of its secrets. */
export interface KeyRecord extends StoredRecord {
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
}
