import { withRetry } from './retry.js';
import { correctionsIn, isOf, type CorrectionOf } from './correction.js';
import type { RecordStore, StoredRecord } from './record.js';

export type CorrectedStore = Pick<RecordStore<StoredRecord, never>, 'corrected' | 'history'>;

/** Histories read per turn of the event loop. */
const AT_ONCE = 32;

/** Which corrections to read. */
export interface CorrectionsAsked {
  /** UTC days, inclusive. */
  readonly from?: string;
  readonly to?: string;
  /** IDs: only of this key, or of this customer and its keys. */
  readonly key?: string;
  readonly customer?: string;
}

/** Corrections of keys, then of customers, by ID, each in order of creation. */
export async function* correctionsOf(
  store: CorrectedStore,
  { from = '', to = '9999', key, customer }: CorrectionsAsked,
  after: string | null = null,
): AsyncGenerator<readonly CorrectionOf[]> {
  const first = key ?? customer ?? '';
  for (let afterId = after ?? predecessor(first); ;) {
    const begin = afterId;
    const ids = await withRetry(() => store.corrected(begin, AT_ONCE));
    const wanted = ids.filter(
      (id) => (key === undefined || id === key) && (customer === undefined || isOf(customer, id)),
    );
    const histories = await Promise.all(wanted.map((id) => withRetry(() => store.history(id))));
    const found = histories.flatMap((history, n) =>
      correctionsIn(history).map((correction) => ({ ...correction, subject: wanted[n]! })),
    );
    yield found.filter(({ day }) => from <= day && day <= to);
    if (ids.length < AT_ONCE || ids.at(-1)!.slice(0, first.length) > first) return;
    afterId = ids.at(-1)!;
  }
}

/**
 * Returns a text that sorts directly before this ID and after all smaller IDs, because no ID has a `~`. Null for an
 * empty ID.
 */
function predecessor(id: string): string | null {
  const last = id.length - 1;
  return id === '' ? null : `${id.slice(0, last)}${String.fromCharCode(id.charCodeAt(last) - 1)}~`;
}
