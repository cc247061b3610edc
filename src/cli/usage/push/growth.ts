import type { LedgerRow } from '../ledger.js';
import { COUNTS, DIMENSIONS } from './event.js';
import type { Entry } from './journal.js';

/**
 * The next journal of a day: what the last one has, all of it acknowledged, and what the ledger has more.
 * Both come key by key, keys in order. A group of which the ledger has less now, or nothing, stays as it was sent.
 * @param again all events are to be sent once more
 */
export async function* grown(
  entries: AsyncIterable<Entry>,
  rows: AsyncIterable<LedgerRow>,
  again: boolean,
): AsyncGenerator<Entry, void> {
  const before = keysOf(entries, ({ group }) => group['key']!);
  const now = keysOf(rows, (row) => row.get('key')!);
  let [known, read] = [await before.next(), await now.next()];
  while (known.done !== true || read.done !== true) {
    const isKnown = known.done !== true && (read.done === true || known.value.key <= read.value.key);
    const isRead = read.done !== true && (known.done === true || read.value.key <= known.value.key);
    yield* grownKey(isKnown ? known.value!.items : [], isRead ? read.value!.items : [], again);
    if (isKnown) known = await before.next();
    if (isRead) read = await now.next();
  }
}

function* grownKey(entries: readonly Entry[], rows: readonly LedgerRow[], again: boolean): Generator<Entry, void> {
  const left = new Map(entries.map((entry) => [JSON.stringify(entry.group), entry]));
  for (const row of rows) {
    const group = Object.fromEntries(
      DIMENSIONS.flatMap((name) => (row.has(name) ? [[name, row.get(name)!] as const] : [])),
    );
    const name = JSON.stringify(group);
    const totals = left.get(name)?.totals ?? [];
    left.delete(name);
    yield {
      group,
      totals: withMore(
        totals,
        COUNTS.map((count) => Number(row.get(count))),
      ),
      sent: again ? 0 : totals.length,
    };
  }
  for (const entry of left.values()) yield { ...entry, sent: again ? 0 : entry.totals.length };
}

function withMore(totals: Entry['totals'], counts: readonly number[]): Entry['totals'] {
  const last = totals.at(-1);
  if (last === undefined) return [counts];
  const more = counts.map((count, place) => Math.max(count, last[place]!));
  return more.some((count, place) => count > last[place]!) ? [...totals, more] : totals;
}

interface OfKey<T> {
  readonly key: string;
  readonly items: readonly T[];
}

async function* keysOf<T>(all: AsyncIterable<T>, keyOf: (one: T) => string): AsyncGenerator<OfKey<T>, void> {
  let [key, items] = ['', [] as T[]];
  for await (const one of all) {
    if (keyOf(one) !== key && items.length > 0) {
      yield { key, items };
      items = [];
    }
    key = keyOf(one);
    items.push(one);
  }
  if (items.length > 0) yield { key, items };
}
