import type { Limits } from '../../admission/bucket.js';
import type { Grant } from './grant.js';
import type { StoredRecord } from './record.js';

export type KeyStatus = 'enabled' | 'disabled' | 'revoked';

/** SHA-256 of a secret, base64url; `endsAtMs` is when it expires, null for never. */
export interface SecretHash {
  readonly hash: string;
  readonly endsAtMs: number | null;
}

/** A key as stored: only hashes of its secrets, never the key itself. */
export interface KeyRecord extends StoredRecord {
  /** Empty for a customer's key, which has the customer's plan and limits. */
  readonly plan: string;
  readonly name: string;
  readonly note: string;
  readonly status: KeyStatus;
  readonly createdAtMs: number;
  readonly expiresAtMs: number | null;
  /** What the key may do; null for everything. */
  readonly scopes: readonly string[] | null;
  /** Its own limits, on a `custom` plan. */
  readonly limits: Limits | null;
  /** Absent if there never were any. Expired ones stay until the next change. */
  readonly grants?: readonly Grant[];
  /** One secret, up to three during rotations, none if revoked. */
  readonly secrets: readonly SecretHash[];
}
