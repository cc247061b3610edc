import t from 'tap';
import { accountsIn } from '../../../../src/gateway/usage/amounts/accounts.js';
import type { UsageRow } from '../../../../src/gateway/store/records/counts.js';
import { openRegistry, openStore } from '../../accounts/store.js';

const EMPTY = { plan: 'gone', operation: 'listPets', day: '2026-11-01', limited: 0, banned: 0, failed: 0, returned: 0 };

t.test('payers that are only in the ledger come in the order of IDs with those that have a record', async (t) => {
  const { engine } = openStore(t);
  const registry = openRegistry(engine);
  const { record } = await registry.create({ plan: 'free', name: 'alone' });
  const prefix = record.id.slice(0, 8);
  // Before and after the key, with the same beginning.
  const ids = [`${prefix}${'0'.repeat(record.id.length - 8)}`, `${prefix}${'z'.repeat(record.id.length - 8)}`];
  async function* ledger(): AsyncGenerator<readonly UsageRow[]> {
    await Promise.resolve();
    yield ids.map((key, n) => ({ ...EMPTY, key, requests: n + 1, units: n + 1 }));
  }
  const found: unknown[] = [];
  const summing = {
    begin: () => ({ units: 0 }),
    add: (sums: { units: number }, row: UsageRow) => (sums.units += row.units),
  };
  for await (const some of accountsIn({}, ledger(), engine, summing))
    found.push(...some.map(({ id, sums, record: its }) => [id, sums.units, its?.id]));
  t.strictSame(found, [
    [ids[0], 1, undefined],
    [record.id, 0, record.id],
    [ids[1], 2, undefined],
  ]);
});
