import { customerOf } from '../store/records/customer-id.js';
import type { KeyRecord, KeyStatus } from '../store/records/key.js';

/** Which keys to list; what is left out doesn't matter. */
export interface KeyFilter {
  readonly plan?: string;
  readonly status?: KeyStatus;
  /** What the name begins with. */
  readonly namePrefix?: string;
  /** Whose keys. They are a range of all ids, so that no others are read. */
  readonly customer?: string;
}

/** `cursor` is null after the last page. A page may be short, even empty, and not be the last. */
export interface Page<R> {
  readonly records: readonly R[];
  readonly cursor: string | null;
}

/**
 * Records read for one page at most, so that a rare filter can't hold the gateway up for long: a page
 * costs as many reads as it has keys, and with a filter up to so many (0.1 to 0.5 s). Then it is short,
 * and its cursor goes on from there.
 */
const SCAN_COUNT = 10_000;
const BATCH_COUNT = 500;

/**
 * Up to `count` records after `cursor` that are wanted, by id.
 * @param read the next ones behind an id; fewer than `max` are the last
 * @param isWanted null: all of them
 */
export async function scan<R extends { readonly id: string }>(
  read: (afterId: string | null, max: number) => Promise<readonly R[]>,
  isWanted: ((record: R) => boolean) | null,
  cursor: string | null,
  count: number,
): Promise<Page<R>> {
  const records: R[] = [];
  let afterId = cursor;
  const batchCount = isWanted === null ? count : BATCH_COUNT;
  for (let scanned = 0; scanned < SCAN_COUNT; scanned += batchCount) {
    const batch = await read(afterId, batchCount);
    for (const record of batch) {
      afterId = record.id;
      if ((isWanted?.(record) ?? true) && records.push(record) === count) return { records, cursor: afterId };
    }
    if (batch.length < batchCount) return { records, cursor: null };
  }
  return { records, cursor: afterId };
}

/** Of a record with plan and limits as they hold. */
export function passes(record: KeyRecord, filter: KeyFilter): boolean {
  return (
    (filter.customer === undefined || customerOf(record.id) === filter.customer) &&
    (filter.plan === undefined || record.plan === filter.plan) &&
    (filter.status === undefined || record.status === filter.status) &&
    (filter.namePrefix === undefined || record.name.startsWith(filter.namePrefix))
  );
}
