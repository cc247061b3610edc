import { appendFileSync, mkdtempSync, readFileSync, rmSync, statSync, truncateSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import t from 'tap';
import type { Test } from 'tap';
import { eventOf } from '../../../../src/cli/usage/push/event.js';
import { appendGrowth, readJournal } from '../../../../src/cli/usage/push/journal.js';
import type { LedgerRow } from '../../../../src/cli/usage/ledger.js';

const row = (key: string, requests: number, { failed = 0, units = requests } = {}): LedgerRow =>
  new Map(
    Object.entries({ day: '2026-11-21', key, requests, limited: 0, banned: 0, failed, units }).map(
      ([name, value]) => [name, String(value)] as const,
    ),
  );

async function* each(rows: readonly LedgerRow[]): AsyncGenerator<LedgerRow, void> {
  for (const one of rows) yield await Promise.resolve(one);
}

function journal(t: Test): string {
  const folder = mkdtempSync(join(tmpdir(), 'petgate-journal-'));
  t.teardown(() => rmSync(folder, { recursive: true }));
  return join(folder, 'journal');
}

async function entriesIn(file: string, bytes: number): Promise<readonly string[]> {
  const found: string[] = [];
  for await (const { row, revision } of readJournal(file, bytes))
    found.push([row.get('key'), revision, row.get('requests'), row.get('failed'), row.get('units')].join(' '));
  return found;
}

t.test('what the ledger has more is appended as a difference; what it has less of stays as it was sent', async (t) => {
  const file = journal(t);
  const first = await appendGrowth(file, 0, each([row('a', 5), row('b', 3), row('ü', 2)]));
  t.equal(first, statSync(file).size);
  t.equal(await appendGrowth(file, first, each([row('a', 5), row('b', 3), row('ü', 2)])), first, 'the same: nothing');
  const second = await appendGrowth(file, first, each([row('a', 4), row('b', 3, { failed: 1 }), row('d', 1)]));
  const third = await appendGrowth(file, second, each([row('b', 6, { failed: 1, units: 30 }), row('ü', 2)]));
  t.same(await entriesIn(file, third), ['a 1 5 0 5', 'b 1 3 0 3', 'ü 1 2 0 2', 'b 2 0 1 0', 'd 1 1 0 1', 'b 3 3 0 27']);
  t.equal(statSync(file).mode & 0o777, 0o600);
});

t.test('what a push that was killed wrote behind the known length is gone', async (t) => {
  const file = journal(t);
  const bytes = await appendGrowth(file, 0, each([row('a', 5)]));
  appendFileSync(file, '{"day":"2026-11-21","key":"a","requ');
  const more = await appendGrowth(file, bytes, each([row('a', 7)]));
  t.equal(readFileSync(file).length, more);
  t.same(await entriesIn(file, more), ['a 1 5 0 5', 'a 2 2 0 2']);
  t.equal(await appendGrowth(file, 0, each([])), 0, 'nothing was sent of it: it begins anew');
  t.equal(statSync(file).size, 0);
});

t.test('a journal that is gone, or was cut, is an error', async (t) => {
  const file = journal(t);
  const bytes = await appendGrowth(file, 0, each([row('a', 5)]));
  truncateSync(file, bytes - 1);
  await t.rejects(entriesIn(file, bytes), /missing or too short/);
  rmSync(file);
  await t.rejects(appendGrowth(file, bytes, each([])), /missing or too short/);
});

t.test("who pays is the subject; the events stay the key's", (t) => {
  const planned = new Map([...row('k', 3), ['plan', 'pro']]);
  t.match(
    eventOf(planned, 'here', () => ({ customer: 'customer', subject: 'C-1042' })),
    {
      id: 'day=2026-11-21&key=k&plan=pro',
      subject: 'C-1042',
      data: { customer: 'customer', key: 'k', plan: 'pro', requests: 3 },
    },
  );
  const lone = eventOf(planned, 'here', (subject) => ({ customer: null, subject }), 2);
  t.equal(lone.id, 'day=2026-11-21&key=k&plan=pro&rev=2');
  t.equal(lone.subject, 'k');
  t.notOk('customer' in lone.data || 'key' in lone.data, 'as before there were customers');
  t.end();
});
