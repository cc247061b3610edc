import { customerOf } from '../store/records/customer-id.js';
import type { KeyRecord, KeyStatus } from '../store/records/key.js';

/** Which keys to list; absent fields do not filter. */
export interface KeyFilter {
  readonly plan?: string;
  readonly status?: KeyStatus;
  /** Prefix of the name. */
  readonly name?: string;
  /** The customer. Its keys are a range of IDs, so no others are read. */
  readonly customer?: string;
}

/** `cursor` is null after the last page. Other pages may be short or empty too. */
export interface Page<R> {
  readonly records: readonly R[];
  readonly cursor: string | null;
}

/**
 * Maximum number of records read for a page, so that a rare filter does not block the gateway (0.1 to 0.5 s). After
 * that, the page is short and its cursor continues from there.
 */
const SCAN_COUNT = 10_000;
const BATCH_COUNT = 500;

/** Some records in order; `next` is the cursor after the last record looked at, null at the end. */
export interface Batch<R> {
  readonly records: readonly R[];
  readonly next: string | null;
}

/**
 * Returns up to `count` matching records after `cursor`.
 * @param read returns a batch of at most `max` records after a cursor
 * @param isWanted null: all match
 * @param cursorOf the cursor after a record
 */
export async function scan<R>(
  read: (after: string | null, max: number) => Promise<Batch<R>>,
  isWanted: ((record: R) => boolean) | null,
  cursor: string | null,
  count: number,
  cursorOf: (record: R) => string,
): Promise<Page<R>> {
  const records: R[] = [];
  let after = cursor;
  const batchCount = isWanted === null ? count : BATCH_COUNT;
  for (let scanned = 0; scanned < SCAN_COUNT; scanned += batchCount) {
    const batch = await read(after, batchCount);
    for (const record of batch.records)
      if ((isWanted?.(record) ?? true) && records.push(record) === count) return { records, cursor: cursorOf(record) };
    after = batch.next;
    if (after === null) break;
  }
  return { records, cursor: after };
}

/** For a record with its effective plan and limits. */
export function passes(record: KeyRecord, filter: KeyFilter): boolean {
  return (
    (filter.customer === undefined || customerOf(record.id) === filter.customer) &&
    (filter.plan === undefined || record.plan === filter.plan) &&
    (filter.status === undefined || record.status === filter.status) &&
    (filter.name === undefined || record.name.startsWith(filter.name))
  );
}
