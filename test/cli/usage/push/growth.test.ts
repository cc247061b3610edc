import t from 'tap';
import { grown } from '../../../../src/cli/usage/push/growth.js';
import type { Entry } from '../../../../src/cli/usage/push/journal.js';
import type { LedgerRow } from '../../../../src/cli/usage/ledger.js';

const row = (key: string, requests: number, failed = 0): LedgerRow =>
  new Map(
    Object.entries({
      day: '2026-11-21',
      key,
      requests: String(requests),
      limited: '0',
      banned: '0',
      failed: String(failed),
      units: String(requests),
    }),
  );
const entry = (key: string, sent: number, ...totals: readonly (readonly number[])[]): Entry => ({
  group: { day: '2026-11-21', key },
  totals,
  sent,
});

async function* each<T>(items: readonly T[]): AsyncGenerator<T, void> {
  for (const item of items) yield await Promise.resolve(item);
}

async function all(entries: readonly Entry[], rows: readonly LedgerRow[], again = false): Promise<readonly Entry[]> {
  const found: Entry[] = [];
  for await (const one of grown(each(entries), each(rows), again)) found.push(one);
  return found;
}

t.test('what the ledger has more waits to be sent; keys stay in order', async (t) => {
  const known = [entry('b', 0, [3, 0, 0, 0, 3]), entry('c', 1, [1, 0, 0, 0, 1], [2, 0, 0, 0, 2])];
  t.same(await all(known, [row('a', 5), row('b', 3, 1), row('c', 2), row('d', 1)]), [
    entry('a', 0, [5, 0, 0, 0, 5]),
    entry('b', 1, [3, 0, 0, 0, 3], [3, 0, 0, 1, 3]),
    entry('c', 2, [1, 0, 0, 0, 1], [2, 0, 0, 0, 2]),
    entry('d', 0, [1, 0, 0, 0, 1]),
  ]);
});

t.test('a group that the ledger has no more, or less of, stays as it was sent', async (t) => {
  t.same(await all([entry('a', 0, [3, 0, 0, 0, 3]), entry('b', 0, [4, 0, 0, 1, 4])], [row('b', 2)]), [
    entry('a', 1, [3, 0, 0, 0, 3]),
    entry('b', 1, [4, 0, 0, 1, 4]),
  ]);
});

t.test('again: all events of all groups wait to be sent', async (t) => {
  const totals = [
    [3, 0, 0, 0, 3],
    [4, 0, 0, 0, 4],
  ] as const;
  t.same(await all([entry('a', 2, ...totals), entry('b', 1, [1, 0, 0, 0, 1])], [row('a', 4)], true), [
    entry('a', 0, ...totals),
    entry('b', 0, [1, 0, 0, 0, 1]),
  ]);
});
