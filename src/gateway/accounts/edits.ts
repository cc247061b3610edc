import type { AuditEntry } from '../store/records/record.js';
import { VersionConflict } from '../store/records/conflicts.js';
import type { KeyChange } from '../store/records/key.js';
import { untilUncontested } from '../store/records/retry.js';
import { KeyRefused } from './refused.js';

export const NO_FREE_ID = 'no free id was found; try again';

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

/** Returns `{from, to}` for each of `fields` that differs, as in the history. */
export function differences<R>(record: R, next: R, fields: readonly (keyof R & string)[]): Record<string, unknown> {
  const changed: Record<string, unknown> = {};
  for (const field of fields) {
    if (JSON.stringify(record[field]) !== JSON.stringify(next[field]))
      changed[field] = { from: record[field], to: next[field] };
  }
  return changed;
}

/** A time as in the history. */
export function isoOrNull(atMs: number | null): string | null {
  return atMs === null ? null : new Date(atMs).toISOString();
}
