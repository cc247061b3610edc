import { noCounts, type UsageRow } from '../store/counts.js';
import type { Accounts } from '../store/ledger.js';
import { correctionsIn, isOf, type Correction } from '../store/records/correction.js';
import { withRetry } from '../store/retry.js';
import { mergeByKey } from './archive/merge.js';
import type { Ledger } from './groups.js';
import type { ReportRange } from './range.js';

/** Histories read in one turn of the event loop. */
const AT_ONCE = 32;

/** Which corrections are asked for. */
export type CorrectionsAsked = Partial<Pick<ReportRange, 'from' | 'to' | 'key' | 'customer'>>;

/** A correction with the id of the key or customer that it is of. */
export interface CorrectionOf extends Correction {
  readonly subject: string;
}

type Store = Pick<Accounts['keys'], 'corrected' | 'history'>;

/** Those of keys, then those of customers, by id, each in the order in which they were made. */
export async function* correctionsOf(
  store: Store,
  { from = '', to = '9999', key, customer }: CorrectionsAsked,
  after: string | null = null,
): AsyncGenerator<readonly CorrectionOf[]> {
  const first = key ?? customer ?? '';
  for (let afterId = after ?? rightBefore(first); ;) {
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

/** What comes before this id, and behind all that come before it: no id has a `~`. Of nothing nothing. */
function rightBefore(id: string): string | null {
  const last = id.length - 1;
  return id === '' ? null : `${id.slice(0, last)}${String.fromCharCode(id.charCodeAt(last) - 1)}~`;
}

/** The ledger, and with each key, or before the keys of a customer, what it is corrected by. */
export function withCorrections(ledger: Ledger, { keys, customers }: Accounts, asked: CorrectionsAsked): Ledger {
  return mergeByKey([ledger, rowsOf(correctionsOf(keys, asked)), rowsOf(correctionsOf(customers, asked))]);
}

async function* rowsOf(corrections: AsyncIterable<readonly CorrectionOf[]>): AsyncGenerator<readonly UsageRow[]> {
  for await (const some of corrections)
    yield some.map(({ subject: key, day, plan, requests, units }) => ({
      ...{ key, day, plan, operation: '', ...noCounts() },
      corrected: { requests, units },
    }));
}
