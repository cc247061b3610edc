import t from 'tap';
import { parseEvent, sumsOf, usageEvent } from '../../../../src/cli/usage/push/event.js';
import type { Origin, UsageEvent } from '../../../../src/cli/usage/push/event.js';
import type { LedgerRow } from '../../../../src/cli/usage/ledger.js';

const row = (key: string, requests: number, { failed = 0, units = requests } = {}): LedgerRow =>
  Object.fromEntries(
    Object.entries({ day: '2026-11-21', key, requests, limited: 0, banned: 0, failed, units }).map(([name, value]) => [
      name,
      String(value),
    ]),
  );
const lone: Origin = { source: 'here', customerOf: () => null, references: new Map() };

async function* each(events: readonly UsageEvent[]): AsyncGenerator<{ readonly event: UsageEvent }, void> {
  for (const event of events) yield await Promise.resolve({ event });
}

/** Sends what each state of the ledger has beyond the events so far; what each event says. */
async function sent(...states: readonly (readonly LedgerRow[])[]): Promise<readonly string[]> {
  const events: UsageEvent[] = [];
  for (const rows of states) {
    const sums = await sumsOf(each(events));
    for (const one of rows) {
      const event = usageEvent(one, sums, lone);
      if (event !== undefined) events.push(event);
    }
  }
  return events.map(({ id, data }) =>
    [id.replace('day=2026-11-21&key=', ''), data['requests'], data['failed'], data['units']].join(' '),
  );
}

t.test('growth is an event of the difference; a group that has shrunk stays as it was sent', async (t) => {
  const first = [row('a', 5), row('b', 3), row('ü', 2)];
  const second = [row('a', 4), row('b', 3, { failed: 1 }), row('d', 1)];
  const third = [row('b', 6, { failed: 1, units: 30 }), row('ü', 2)];
  t.same(await sent(first, first, second, third), [
    ...['a 5 0 5', 'b 3 0 3', '%C3%BC 2 0 2'],
    ...['b&rev=2 0 1 0', 'd 1 0 1', 'b&rev=3 3 0 27'],
  ]);
});

t.test('lines of version 0.4 are the same events', (t) => {
  const first = usageEvent(row('a', 5), new Map(), lone);
  const line = (revision: number): string => JSON.stringify({ ...row('a', 5), revision });
  t.same(parseEvent(line(1), lone), first);
  t.same(parseEvent(line(3), lone), { ...first, id: `${first!.id}&rev=3` });
  t.equal(parseEvent('correction=M-1&of=k', lone).id, 'correction=M-1&of=k');
  t.same(parseEvent(JSON.stringify(first), lone), JSON.parse(JSON.stringify(first)));
  t.end();
});
