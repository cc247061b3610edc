import type { Limits } from '../../admission/bucket.js';
import type { Grant } from './grant.js';
import type { OutboxChange } from '../outbox/event.js';
import type { RecordStore, StoredRecord } from './record.js';

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
  /** The sum of the credits in its history; absent if there never were any. */
  readonly credited?: number;
  /** One secret, up to three during rotations, none if revoked. */
  readonly secrets: readonly SecretHash[];
}

/** Why and by whom a key was banned. */
export interface BanNote {
  readonly reason: string | null;
  readonly actor: string;
}

/** Reads the note of the ban until `untilMs`; null if it is of an earlier one, because automatic bans have none. */
export function noteIn(json: string, untilMs: number): BanNote | null {
  if (json === '') return null;
  const { untilMs: ofBan, ...note } = JSON.parse(json) as BanNote & { readonly untilMs: number };
  return ofBan === untilMs ? note : null;
}

/** A ban in force. `note` is null for an automatic ban. */
export interface Ban {
  readonly keyId: string;
  readonly untilMs: number;
  readonly level: number;
  readonly note: BanNote | null;
}

/**
 * What is written in the same step as a key: events, and a manual ban, which starts now at level 1, whatever is in
 * force. A null `ban` lifts the ban and resets strikes and level.
 */
export interface KeyChange extends OutboxChange {
  readonly ban?: Pick<Ban, 'untilMs' | 'note'> | null | undefined;
}
export type KeyStore = RecordStore<KeyRecord, KeyChange>;
