import type { KeyStatus } from '../store/records/key.js';

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

/**
 * Returns up to `count` matching records after `cursor`.
 * @param read returns at most `max` records after a cursor, and the cursor after the last record looked at
 * @param isWanted null: all match
 * @param cursorOf the cursor after a record
 */
export async function scan<R>(
  read: (after: string | null, max: number) => Promise<Page<R>>,
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
    after = batch.cursor;
    if (after === null) break;
  }
  return { records, cursor: after };
}
