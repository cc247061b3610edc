import { isDeepStrictEqual } from 'node:util';
import type { Limits } from '../admission/bucket.js';
import type { Grant } from '../store/records/grant.js';
import type { AuditEntry, StoredRecord } from '../store/records/record.js';
import { ChangeUncertain, VersionConflict } from '../store/records/conflicts.js';
import type { KeyChange } from '../store/records/key.js';
import { untilUncontested } from '../store/records/retry.js';
import { KeyRefused } from './refused.js';

export const NO_FREE_ID = 'no free id was found; try again';

/** A key or a customer. */
export interface Account extends StoredRecord {
  readonly name: string;
  readonly createdAtMs: number;
  readonly plan: string;
  readonly limits: Limits | null;
  readonly grants?: readonly Grant[];
  readonly credited?: number;
}

/** A record with its change, for the history. */
export interface Change<R> extends Pick<AuditEntry, 'action' | 'changed'> {
  readonly next: R;
  /** For keys: a ban by hand, or its end, in the same step. */
  readonly ban?: KeyChange['ban'];
}

/** Returns the change to `next`; null if nothing changed. */
export function changeTo<R>(next: R, action: AuditEntry['action'], changed: AuditEntry['changed']): Change<R> | null {
  return Object.keys(changed).length === 0 ? null : { next, action, changed };
}

/** Retries if another write came first; rejects with KeyRefused and `givenUp` if that continues. */
export async function untilWritten<Result>(attempt: () => Promise<Result>, givenUp: string): Promise<Result> {
  try {
    return await untilUncontested(attempt);
  } catch (error) {
    throw error instanceof VersionConflict ? new KeyRefused('conflict', [givenUp]) : error;
  }
}

/** Adds `advice` to the error of a write that no replica confirmed. */
export function advised<Result>(write: Promise<Result>, advice: string): Promise<Result> {
  return write.catch((error: unknown) => {
    throw error instanceof ChangeUncertain ? new ChangeUncertain(`${error.message} ${advice}`) : error;
  });
}

/** Fields that operators set; the history records their changes. */
export const KEY_FIELDS = ['plan', 'name', 'note', 'status', 'limits', 'scopes', 'expiresAtMs'] as const;
export const CUSTOMER_FIELDS = ['plan', 'name', 'reference', 'note', 'status', 'limits'] as const;

/** Returns the values of a new record, as in the history. Texts that are empty are left out. */
export function valuesOf(values: object): Record<string, unknown> {
  const given = Object.entries(values).filter(([, value]) => value !== '');
  return Object.fromEntries(given.map(([field, value]) => [nameOf(field), shown(field, value)]));
}

/** Returns `{from, to}` for each of `fields` that differs, as in the history. */
export function differences<R>(record: R, next: R, fields: readonly (keyof R & string)[]): Record<string, unknown> {
  const changed = fields.filter((field) => !isDeepStrictEqual(record[field], next[field]));
  return Object.fromEntries(
    changed.map((field) => [nameOf(field), { from: shown(field, record[field]), to: shown(field, next[field]) }]),
  );
}

/** `expiresAtMs` in a record is `expires` in its history, and a time in ISO 8601. */
function nameOf(field: string): string {
  return field.endsWith(TIME) ? field.slice(0, -TIME.length) : field;
}

function shown(field: string, value: unknown): unknown {
  return field.endsWith(TIME) ? isoOrNull(value as number | null) : value;
}

const TIME = 'AtMs';

/** A time as in the history. */
export function isoOrNull(atMs: number | null): string | null {
  return atMs === null ? null : new Date(atMs).toISOString();
}
