import t from 'tap';
import { DAY_MS } from '../../../../src/gateway/admission/bucket.js';
import type { UsageRow } from '../../../../src/gateway/store/records/counts.js';
import { moveDays } from '../../../../src/gateway/usage/archive/move.js';
import { restoreDays } from '../../../../src/gateway/usage/archive/restore.js';
import { startPostgres } from '../../../servers/postgres.js';
import { startCluster, redisFor } from '../../../servers/redis.js';
import { ago, allRows, archiveOf, openStage, use } from './stage.js';

t.setTimeout(600_000);
const postgres = await startPostgres();
t.teardown(() => postgres.stop());

t.test('of a day that is counted while it moves, and comes back, every report has each request once', async (t) => {
  const cluster = await startCluster();
  t.teardown(() => cluster.stop());
  const redis = await redisFor(t);
  for (const { url } of [redis, cluster]) {
    const stage = await openStage(t, url, await postgres.createDatabase(url.slice(0, 13)));
    const { engine, settings } = stage;
    const keys = [...(await use(engine, 12, [50, 0]))].sort((a, b) => (a.id < b.id ? -1 : 1));
    const archive = await archiveOf(t, settings);
    const sum = async (): Promise<number> =>
      (await allRows(stage.store, archive, ago(50))).reduce((all, { requests }) => all + requests, 0);
    let expected = await sum();
    /** After each step, and with a step that did its work but for the end of it. */
    const goesOn = async (what: string): Promise<void> => {
      t.equal(await sum(), expected, what);
      const now = { operation: 'listPets', scope: null, cost: 1 };
      await engine.admit(keys.filter((_, n) => n % 2 === 0).map(({ subject }) => ({ ...now, subject })));
      expected += keys.length / 2;
      t.equal(await sum(), expected, `${what}, and more was counted`);
    };
    const { store } = stage;
    const half = async function* (rows: AsyncIterable<readonly UsageRow[]>): AsyncGenerator<readonly UsageRow[]> {
      for await (const some of rows) yield some.filter(({ key }) => key < keys[6]!.id);
    };
    const watched = Object.fromEntries(
      (['remove', 'restore'] as const).map((step) => [
        step,
        async (day: string, rows: AsyncIterable<readonly UsageRow[]>) => {
          await goesOn(`before ${step} of ${day}`);
          await store[step](day, half(archive.rows([day], {})));
          await goesOn(`in the middle of ${step} of ${day}`);
          await store[step](day, rows);
          await goesOn(`after ${step} of ${day}`);
        },
      ]),
    );
    const busy = { ...store, ...watched, nowMs: async () => (await store.nowMs()) + 41 * DAY_MS };
    const done: string[] = [];
    await moveDays(busy, archive, settings.store, (day) => done.push(day), Date.now() + 41 * DAY_MS);
    t.same(done, [ago(50), ago(0)], 'both clocks are ahead');
    await goesOn('when it is moved');
    await restoreDays(busy, archive, done, () => undefined);
    await goesOn('when it is back');
    t.equal((await archive.days()).size, 0);
    t.equal(await store.archive(), null);
  }
});
