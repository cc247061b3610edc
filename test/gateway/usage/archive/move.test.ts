import { text } from 'node:stream/consumers';
import pg from 'pg';
import t from 'tap';
import type { Test } from 'tap';
import { ledgerName } from '../../../../src/gateway/store/redis/keyspace/names.js';
import type { RedisEngine } from '../../../../src/gateway/store/redis/engine.js';
import { DAY_MS } from '../../../../src/gateway/admission/bucket.js';
import { customerOf } from '../../../../src/gateway/store/records/customer-id.js';
import { noCounts, type UsageRow } from '../../../../src/gateway/store/records/counts.js';
import { moveDays } from '../../../../src/gateway/usage/archive/move.js';
import type { Archive } from '../../../../src/gateway/usage/archive/archive.js';
import { restoreDays } from '../../../../src/gateway/usage/archive/restore.js';
import { openRedisLedger } from '../../../../src/gateway/config/open-store.js';
import { archivedStore, ledgerRows } from '../../../../src/gateway/usage/archive/ledger.js';
import { runTask } from '../../../../src/gateway/usage/tasks/task.js';
import { dayNumber, daysFrom } from '../../../../src/shared/utc-day.js';
import { temporaryFolder } from '../../../servers/program.js';
import { until } from '../../../servers/until.js';
import { startPostgres } from '../../../servers/postgres.js';
import { startCluster, redisFor } from '../../../servers/redis.js';
import { startProxy } from '../../../servers/stalling-proxy.js';
import { newPlace } from './places.js';
import { ago, agoMs, allRows, archiveOf, gathered, openStage, use, withArchive, type Stage } from './stage.js';

t.setTimeout(600_000);
const DAYS_AGO = [399, 100, 62, 61, 45, 41, 40, 39, 3, 0];

const postgres = await startPostgres();
t.teardown(() => postgres.stop());

async function moved(archive: Archive, { store, settings }: Stage): Promise<readonly string[]> {
  const days: string[] = [];
  await moveDays(store, archive, settings.store, (day) => days.push(day));
  return days;
}

/** Moves and restores; a report has the same rows before, between and after. */
async function provesWhole(t: Test, stage: Stage, oldest: number): Promise<void> {
  const { engine, settings, store } = stage;
  const daysAgo = DAYS_AGO.filter((days) => days <= oldest);
  const due = daysAgo.filter((days) => days > 40).map(ago);
  const keys = await use(engine, 60, daysAgo, 7);
  const [first, last] = [keys[0]!.id, keys.at(-1)!.id];
  const customer = customerOf(last)!;
  const before = await allRows(store, null, ago(oldest));
  t.ok(before.length > 400, `${before.length} rows`);
  const archive = await archiveOf(t, settings);
  t.same(await allRows(store, archive, ago(oldest)), before, 'with an archive that has nothing yet');

  t.same(await moved(archive, stage), due, 'what is final and older than 40 days was moved, oldest first');
  t.same(await allRows(store, archive, ago(oldest)), before, 'a report reads both as one');
  t.same(
    await allRows(store, archive, ago(oldest), { key: first }),
    before.filter((row) => row.key === first),
    'of one key too',
  );
  const its = before.filter((row) => customerOf(row.key) === customer);
  t.same(new Set(its.map((row) => row.key)).size, 7);
  t.same(await allRows(store, archive, ago(oldest), { customer }), its, 'and of one customer');
  const left = await gathered(store.rows([...daysFrom(ago(oldest), ago(0))], {}));
  t.same(new Set(left.map(({ day }) => day)), new Set([40, 39, 3, 0].map(ago)), 'the store has let go of them');
  for (const day of due) t.ok((await archive.verify(day)).rows > 0);
  t.same(await moved(archive, stage), [], 'once is enough');
  await t.rejects(
    allRows(store, null, ago(oldest)),
    { name: 'ArchiveUnavailable', message: /set LEDGER_URL/ },
    'never a part of it',
  );

  const restored: string[] = [];
  await restoreDays(store, archive, due, (day) => restored.push(day));
  t.same(restored, due);
  t.equal((await archive.days()).size, 0);
  t.same(await allRows(store, null, ago(oldest)), before, 'all came back');
  t.same(await moved(archive, stage), [], 'and stays for a day');
  await archive.pause(0);
  t.same(await moved(archive, stage), due, 'then it is moved again');
  t.same(await allRows(store, archive, ago(oldest)), before);
}

t.test('one Redis', async (t) => {
  const redis = await redisFor(t);
  await provesWhole(t, await openStage(t, redis.url, await postgres.createDatabase('single')), 399);
});
t.test('a Cluster', async (t) => {
  const cluster = await startCluster();
  t.teardown(() => cluster.stop());
  await provesWhole(t, await openStage(t, cluster.url, await postgres.createDatabase('cluster')), 100);
});

t.test('an archive that is not the one that days were moved to is refused', async (t) => {
  const stage = await newPlace(t, await postgres.createDatabase('own'));
  await use(stage.engine, 3, [50]);
  await moved(await archiveOf(t, stage.settings), stage);
  const other = { ...stage, settings: withArchive(stage.settings, await postgres.createDatabase('other')) };
  const archive = await archiveOf(t, other.settings);
  await t.rejects(allRows(stage.store, archive), { name: 'ArchiveUnavailable', message: /another archive/ });
  await t.rejects(moved(archive, other), { name: 'ArchiveUnavailable' });
});

t.test(
  'the archive knows whose days it has: an empty Redis is no first start, and no other store moves there',
  async (t) => {
    const redis = await redisFor(t);
    const stage = await openStage(t, redis.url, await postgres.createDatabase('whose'));
    const { settings } = stage;
    t.equal(await archivedStore(settings)(), null);
    await moved(await archiveOf(t, settings), stage);
    const id = await redis.command('HGET', 'petgate:store', 'id');
    t.equal(await archivedStore(settings)(), id, 'also where no day was due');
    const other = await newPlace(t, await postgres.createDatabase('not_whose'));
    const both = { ...other, settings: withArchive(other.settings, settings.store.archive!) };
    await t.rejects(moved(await archiveOf(t, both.settings), both), { message: /belongs to another store/ });
    // A stage that is still at it would mark what is empty by then.
    await Promise.all([stage.engine.close(), stage.store.close()]);
    await redis.command('FLUSHALL');
    const isRefused = async (): Promise<boolean> => {
      const store = openRedisLedger({ ...settings, data: temporaryFolder(t) }, archivedStore(settings));
      const answer = await store.nowMs().then(
        () => 'served',
        (error: unknown) => String(error),
      );
      await store.close();
      return /no id, not/.test(answer);
    };
    await until('who knows nothing else is told by the archive', isRefused);
    t.equal(await redis.command('EXISTS', 'petgate:store'), 0, 'and nobody marks it');
  },
);

t.test('an archive that hangs when it is asked for its store is asked again, and no connection is left', async (t) => {
  const stage = await newPlace(t, await postgres.createDatabase('hangs'));
  await moved(await archiveOf(t, stage.settings), stage);
  const url = new URL(stage.settings.store.archive!);
  const proxy = await startProxy(Number(url.port));
  t.teardown(() => proxy.stop());
  url.port = proxy.port.toString();
  const asked = archivedStore(withArchive(stage.settings, url.href));
  proxy.set('stall');
  const both = await Promise.allSettled([asked(), asked()]);
  t.match(both, [{ reason: { name: 'ArchiveUnavailable' } }, { reason: { name: 'ArchiveUnavailable' } }]);
  proxy.set('pass');
  t.match(await asked(), /^[0-9a-f]{24}$/);
  const client = new pg.Client({ connectionString: stage.settings.store.archive! });
  await client.connect();
  t.teardown(() => client.end());
  await until('no connection is left but that of the stage', async () => {
    const { rows } = await client.query(
      "select 1 from pg_stat_activity where datname = 'hangs' and application_name = 'petgate-ledger'",
    );
    return rows.length === 1;
  });
});

t.test('a report that is under way while days are moved has every row once', async (t) => {
  const stage = await newPlace(t, await postgres.createDatabase('under_way'));
  await use(stage.engine, 300, [70, 69, 68, 67, 66, 2]);
  const before = await allRows(stage.store, null, ago(80));
  const archive = await archiveOf(t, stage.settings);
  const found: UsageRow[] = [];
  for await (const rows of ledgerRows(stage.store, () => Promise.resolve(archive), { from: ago(80), to: ago(0) })) {
    // The first rows are out, and others read already, when all days but one go.
    if (found.length === 0)
      t.match(JSON.parse(await text(runTask({ kind: 'move', settings: stage.settings }))), { moved: 5 });
    found.push(...rows);
  }
  const placeOf = ({ key, day, operation }: UsageRow): string => `${key} ${day} ${operation}`;
  t.same(
    found.sort((a, b) => (placeOf(a) < placeOf(b) ? -1 : 1)),
    before,
  );
});

t.test('what comes late of an archived day stays in the store, and is in every report', async (t) => {
  const stage = await newPlace(t, await postgres.createDatabase('late'));
  const { engine, store, settings, redis } = stage;
  const [key] = await use(engine, 5, [50, 49, 48]);
  const archive = await archiveOf(t, settings);
  const requestsOn = async (days: number): Promise<number> =>
    (await allRows(store, archive, ago(60), { key: key!.id }))
      .filter(({ day, operation }) => day === ago(days) && operation === 'createPet')
      .reduce((sum, { requests, units }) => sum + (units < requests ? NaN : requests), 0);
  const take = (days: number, requests: number) =>
    (engine as RedisEngine).fleet.take('a spool', {
      keyId: key!.id,
      rows: [
        {
          ...{ key: key!.id, plan: 'open', operation: 'createPet', day: ago(days) },
          ...{ ...noCounts(), requests, units: 3 * requests },
        },
      ],
    });
  const [first, second] = [await requestsOn(49), await requestsOn(48)];
  await take(49, 3);
  t.equal(await requestsOn(49), first + 3, 'before the day is moved');
  // A gateway of an earlier version adds to the very ledger that is being moved.
  await archive.put(ago(48), store.day(ago(48)));
  await redis.command('HINCRBY', ledgerName(key!.id, dayNumber(agoMs(48))), 'open|createPet|requests', 5);
  t.equal((await moved(archive, stage)).length, 3);
  t.equal(await requestsOn(48), second + 5);
  t.equal(await requestsOn(49), first + 3, 'after it was moved');
  await take(49, 7);
  await take(49, 7);
  t.equal(await requestsOn(49), first + 7, 'a total, taken once');
  t.equal(Number(await redis.command('TTL', ledgerName(key!.id, dayNumber(agoMs(49))))), -1, 'for ever');
  const all = (await allRows(store, archive, ago(60))).filter((row) => row.key === key!.id && row.day === ago(49));
  t.equal(
    all.find(({ operation }) => operation === 'createPet')?.requests,
    first + 7,
    'in the report over all keys too',
  );
  t.same(await moved(archive, stage), [], 'and the archive is as it was');
  const left = (await redis.command('KEYS', `petgate:*:usage:${dayNumber(agoMs(50))}`)) as readonly unknown[];
  t.equal(left.length, 0, 'no mark stays where nothing came');
});

t.test("Redis' clock 41 days ahead during a move, and what is counted when it is right again", async (t) => {
  const stage = await newPlace(t, await postgres.createDatabase('ahead'));
  const { engine, store, settings } = stage;
  const [key] = await use(engine, 5, [50, 2, 0]);
  const archive = await archiveOf(t, settings);
  const before = await allRows(store, archive, ago(60));
  const ahead: Stage = { ...stage, store: { ...store, nowMs: async () => (await store.nowMs()) + 41 * DAY_MS } };
  t.same(await moved(archive, ahead), [ago(50)], 'only what our own clock calls old too');
  t.same(await allRows(store, archive, ago(60)), before);
  const request = { subject: key!.subject, operation: 'listPets', scope: null, cost: 1 };
  for (let n = 0; n < 90; n += 1) await engine.admit([request]);
  const sum = (rows: readonly UsageRow[]): number => rows.reduce((all, { requests }) => all + requests, 0);
  t.equal(sum(await allRows(store, archive, ago(60))) - sum(before), 90);
});
