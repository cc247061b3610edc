import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import t from 'tap';
import type { Test } from 'tap';
import { batchesOf } from '../../../../src/cli/usage/push/batches.js';
import { eventOf } from '../../../../src/cli/usage/push/event.js';
import { eventsIn } from '../../../../src/cli/usage/push/journal.js';
import type { Payer, UsageEvent } from '../../../../src/cli/usage/push/event.js';

const group = { day: '2026-11-21', key: 'k' };

async function eventsOf(t: Test, entry: object): Promise<readonly UsageEvent[]> {
  const folder = mkdtempSync(join(tmpdir(), 'petgate-journal-'));
  t.teardown(() => rmSync(folder, { recursive: true }));
  writeFileSync(join(folder, 'journal'), `${JSON.stringify(entry)}\n`);
  const events: UsageEvent[] = [];
  for await (const { event } of eventsIn(join(folder, 'journal'), 'here')) events.push(event);
  return events;
}

t.test('a journal of a version without units: every request cost one', async (t) => {
  const [event] = await eventsOf(t, { group, totals: [[3, 1, 0, 2]], sent: 0 });
  t.match(event, { id: 'day=2026-11-21&key=k', data: { requests: 3, limited: 1, banned: 0, failed: 2, units: 3 } });
});

t.test('units that came late are sent like requests', async (t) => {
  const totals = [
    [3, 0, 0, 0, 3],
    [4, 0, 0, 0, 10],
  ];
  const events = await eventsOf(t, { group, totals, sent: 1 });
  t.equal(events.length, 1);
  t.match(events[0], { id: 'day=2026-11-21&key=k&rev=2', data: { requests: 1, units: 7 } });
});

t.test('cumulative: the id names units where they are not the requests', (t) => {
  const row = (units: string): ReadonlyMap<string, string> =>
    new Map(Object.entries({ ...group, requests: '3', units, limited: '0', banned: '0', failed: '0' }));
  t.equal(eventOf(row('3'), 'cumulative', 'here').id, 'day=2026-11-21&key=k&at=3-0-0-0', 'as before there were any');
  t.equal(eventOf(row('9'), 'cumulative', 'here').id, 'day=2026-11-21&key=k&at=3-0-0-0-9');
  t.end();
});

t.test("who pays is the subject; the events stay the key's", async (t) => {
  const payerOf = (): Payer => ({ customer: 'customer', subject: 'C-1042' });
  const row = new Map(
    Object.entries({ ...group, requests: '3', units: '3', limited: '0', banned: '0', failed: '0', plan: 'pro' }),
  );
  t.match(eventOf(row, 'day', 'here', 1, payerOf), {
    id: 'day=2026-11-21&key=k&plan=pro',
    subject: 'C-1042',
    data: { customer: 'customer', key: 'k', plan: 'pro', requests: 3 },
  });
  const lone = eventOf(row, 'day', 'here');
  t.equal(lone.subject, 'k');
  t.notOk('customer' in lone.data || 'key' in lone.data, 'as before there were customers');
  const keyed = (async function* () {
    yield await Promise.resolve({ key: 'a', event: eventOf(row, 'day', 'here', 1, payerOf) });
    yield { key: 'b', event: eventOf(row, 'day', 'here', 1, payerOf) };
  })();
  const batches = [];
  for await (const batch of batchesOf(keyed, 1, null)) batches.push(batch.after);
  t.same(batches, [null, 'a'], 'a key is done when the next begins, also where both pay into one');
});
