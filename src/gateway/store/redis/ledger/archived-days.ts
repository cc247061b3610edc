import type { ArchivedDays } from '../../records/record.js';
import { ARCHIVED_CHUNK } from '../keyspace/names.js';

/**
 * Prefix of the fields next to a key's record that say which of its days the archive has: a field `archived-<n>` per
 * `ARCHIVED_CHUNK` days with a bit per day, short enough for the compact form of the hash. The step that removes a
 * day's ledger sets its bit, on the same node. The fields move with the key.
 */
const FIELD = 'archived-';

export function chunksOf(days: readonly number[]): readonly string[] {
  return [...new Set(days.map((day) => Math.floor(day / ARCHIVED_CHUNK).toString()))];
}

export function isArchived(chunks: ReadonlyMap<string, Buffer>, day: number): boolean {
  const bits = chunks.get(Math.floor(day / ARCHIVED_CHUNK).toString());
  return ((bits?.[Math.floor((day % ARCHIVED_CHUNK) / 8)] ?? 0) & (1 << (day % 8))) !== 0;
}

/** Returns the archived days in the fields of a key. */
export function archivedIn(fields: ReadonlyMap<string, Buffer>): ArchivedDays {
  const own = [...fields].filter(([field]) => field.startsWith(FIELD));
  return Object.fromEntries(own.map(([field, bits]) => [field.slice(FIELD.length), bits.toString('base64')]));
}

/** Returns the fields and values for a key with these archived days. */
export function archivedFields(days: ArchivedDays): readonly (string | Buffer)[] {
  return Object.entries(days).flatMap(([chunk, bits]) => [FIELD + chunk, Buffer.from(bits, 'base64')]);
}

/** Returns the numbers of the days in `given` that are not in `here`. */
export function missingDays(here: ArchivedDays, given: ArchivedDays): readonly number[] {
  return Object.entries(given).flatMap(([chunk, text]) => {
    if (here[chunk] === text) return [];
    const known = new Map([[chunk, Buffer.from(here[chunk] ?? '', 'base64')]]);
    const brought = new Map([[chunk, Buffer.from(text, 'base64')]]);
    const days = Array.from({ length: ARCHIVED_CHUNK }, (_, n) => Number(chunk) * ARCHIVED_CHUNK + n);
    return days.filter((day) => isArchived(brought, day) && !isArchived(known, day));
  });
}

export function archivedField(chunk: string): string {
  return FIELD + chunk;
}
