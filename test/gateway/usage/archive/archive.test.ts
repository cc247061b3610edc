import { createHash } from 'node:crypto';
import pg from 'pg';
import t from 'tap';
import type { UsageRow } from '../../../../src/gateway/store/records/counts.js';
import { openPostgresArchive } from '../../../../src/gateway/usage/archive/archive.js';
import { startPgbouncer } from '../../../servers/pgbouncer.js';
import { startPostgres } from '../../../servers/postgres.js';
import { gathered } from './stage.js';

const server = await startPostgres();
t.teardown(() => server.stop());

function rowsOf(day: string, keys: number): UsageRow[] {
  return Array.from({ length: keys }, (_, n) => ({
    key: `k${String(n).padStart(6, '0')}`,
    plan: 'free',
    operation: 'listPets',
    day,
    requests: n + 1,
    units: 2 * n + 3,
    returned: n % 3,
    limited: 0,
    banned: 0,
    failed: 0,
  }));
}

async function* inBatches(rows: readonly UsageRow[]): AsyncGenerator<readonly UsageRow[]> {
  for (let at = 0; at < rows.length; at += 700) yield await Promise.resolve(rows.slice(at, at + 700));
}

async function ask(url: string, sql: string): Promise<readonly Record<string, unknown>[]> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  try {
    return (await client.query<Record<string, unknown>>(sql)).rows;
  } finally {
    await client.end();
  }
}

t.test('a day that a version without returned units wrote is read, checked and raised', async (t) => {
  const url = await server.createDatabase('earlier');
  const archive = await openPostgresArchive(url);
  t.teardown(() => archive.close());
  const day = '2026-03-05';
  const rows = rowsOf(day, 20).map((row) => ({ ...row, returned: 0 }));
  await archive.put(day, inBatches(rows));
  const columns = ['key', 'plan', 'operation', 'requests', 'units', 'limited', 'banned', 'failed'];
  const lines = rows.map((row) => columns.map((name) => String(row[name as 'key' | 'units'])).join('\t'));
  const head = JSON.stringify({ ledger: day, format: 1, columns });
  const sha256 = createHash('sha256')
    .update(`${[head, ...lines].join('\n')}\n`)
    .digest('hex');
  await ask(
    url,
    `update ledger_rows set returned = null;
     update ledger_days set sha256 = '${sha256}', columns = '{${columns.join(',')}}', totals = totals - 'returned'`,
  );
  t.match(await archive.verify(day), { rows: 20, totals: { returned: 0 } });
  t.same(await gathered(archive.rows([day], {})), rows);
  await archive.put(day, inBatches([{ ...rows[0]!, returned: 2 }]));
  t.match(await archive.verify(day), { rows: 20, totals: { returned: 2 } }, 'then it has the column');
  await ask(url, `update ledger_rows set returned = 1 where key = 'k000003'`);
  await t.rejects(archive.verify(day), /not the ones that Petgate wrote/, 'and it is checked');
});

t.test('days come back key by key, in a partition for each month', async (t) => {
  const url = await server.createDatabase('days');
  // Together, as gateways that start at once.
  const [archive, other] = await Promise.all([openPostgresArchive(url), openPostgresArchive(url)]);
  t.teardown(() => Promise.all([archive.close(), other.close()]));
  t.equal(archive.id, other.id);
  const days = ['2026-01-31', '2026-02-01', '2026-12-31'];
  for (const day of days) await archive.put(day, inBatches(rowsOf(day, 2_000)));
  const less = rowsOf(days[0]!, 5).map((row) => ({ ...row, requests: 0 }));
  await other.put(days[0]!, inBatches(less));
  t.equal((await other.verify(days[0]!)).rows, 2_000, 'of two counts the larger one holds, and all others stay');
  const expected = rowsOf(days[0]!, 2_000).flatMap((row) => days.map((day) => ({ ...row, day })));
  t.same(await gathered(archive.rows(days, {})), expected);
  t.same(
    await gathered(archive.rows(days, { after: 'k001500' })),
    expected.filter(({ key }) => key > 'k001500'),
  );
  t.same(
    await gathered(archive.rows(days, { keyId: 'k000007' })),
    expected.filter(({ key }) => key === 'k000007'),
  );
  const partitions = await ask(url, "select relid::text from pg_partition_tree('ledger_rows') where isleaf order by 1");
  t.same(
    partitions.map(({ relid }) => relid),
    ['ledger_rows_2026_01', 'ledger_rows_2026_02', 'ledger_rows_2026_12'],
  );
  const version = await archive.version();
  const more = rowsOf(days[1]!, 1).map((row) => ({ ...row, limited: 7 }));
  await other.put(days[1]!, inBatches([...more, { ...more[0]!, key: 'k999999' }]));
  t.not(await archive.version(), version);
  t.equal((await archive.verify(days[1]!)).rows, 2_001);
  t.same(
    [...(await archive.days())].map(([day, { counts }]) => [day, counts.limited]),
    [
      [days[0], 0],
      [days[1], 14],
      [days[2], 0],
    ],
  );
  t.match(
    await archive.rowsOf([
      { day: days[1]!, key: 'k000000' },
      { day: days[0]!, key: 'nobody' },
    ]),
    [{ requests: 1, limited: 7 }],
  );
  await archive.drop(days[1]!);
  t.same([...(await archive.days()).keys()], [days[0], days[2]]);
});

t.test('a day that was changed is damaged; one that was never read back does not count', async (t) => {
  const url = await server.createDatabase('damage');
  const archive = await openPostgresArchive(url);
  t.teardown(() => archive.close());
  const day = '2026-01-05';
  await archive.put(day, inBatches(rowsOf(day, 100)));
  await ask(url, "update ledger_rows set requests = requests + 1 where key = 'k000050'");
  const message = new RegExp(`${day}.*petgate usage archive verify`);
  await t.rejects(archive.verify(day), { name: 'ArchiveDamaged', message });
  await t.rejects(gathered(archive.rows([day], {})), { name: 'ArchiveDamaged', message }, 'no report shows it');
  await ask(url, 'update ledger_days set verified = false');
  t.equal((await archive.days()).size, 0);
  await archive.put(day, inBatches(rowsOf(day, 100)));
  t.equal((await archive.verify(day)).rows, 100);
  await ask(url, "delete from ledger_rows where key = 'k000001'");
  await t.rejects(archive.verify(day), { name: 'ArchiveDamaged' });
  await t.rejects(gathered(archive.rows([day], {})), { name: 'ArchiveDamaged' });
});

t.test('a count of a version to come is no matter; without a database it says what to look at', async (t) => {
  const url = await server.createDatabase('counts');
  const archive = await openPostgresArchive(url);
  t.teardown(() => archive.close());
  const day = '2026-01-05';
  await archive.put(day, inBatches(rowsOf(day, 3)));
  await ask(url, 'alter table ledger_rows add column paws bigint');
  t.equal((await archive.verify(day)).rows, 3);
  t.match(await gathered(archive.rows([day], {})), [{ requests: 1 }, { requests: 2 }, { requests: 3 }]);
  await t.rejects(openPostgresArchive('postgres://nobody@127.0.0.1:1/none'), {
    name: 'ArchiveUnavailable',
    message: /LEDGER_URL/,
  });
});

t.test('one at a time does the work, until its connection ends', async (t) => {
  const url = await server.createDatabase('alone');
  const [one, other] = [await openPostgresArchive(url), await openPostgresArchive(url)];
  t.teardown(() => Promise.all([one.close(), other.close()]));
  await one.withLock(async () => {
    t.equal(await other.withLock(() => Promise.resolve(1)), undefined);
  });
  t.equal(await other.withLock(() => Promise.resolve(1)), 1);
});

t.test('by way of PgBouncer in transaction mode it works as without', async (t) => {
  const url = await startPgbouncer(t, await server.createDatabase('pooled'));
  const [one, other] = await Promise.all([openPostgresArchive(url), openPostgresArchive(url)]);
  t.teardown(() => Promise.all([one.close(), other.close()]));
  const days = ['2026-01-05', '2026-01-06'];
  for (let round = 0; round < 3; round += 1) {
    // What one holds no other gets, and it is free again afterwards, whichever connections they are given.
    await one.withLock(async () => {
      for (const day of days) await one.put(day, inBatches(rowsOf(day, 2_000)));
      t.equal((await other.days()).size, 2);
      t.equal(await other.withLock(() => Promise.resolve(1)), undefined, 'another one is at it');
    });
    const found = await Promise.all([gathered(one.rows(days, {})), gathered(other.rows(days, {}))]);
    t.same(
      found.map((rows) => rows.length),
      [4_000, 4_000],
    );
    await other.withLock(() => other.drop(days[0]!));
  }
});

t.test('one of a later version is refused', async (t) => {
  const url = await server.createDatabase('later');
  await (await openPostgresArchive(url)).close();
  await ask(url, 'insert into ledger_migrations (version) values (999)');
  await t.rejects(openPostgresArchive(url), { name: 'ArchiveUnavailable', message: /format 999, .* does not know/ });
});
