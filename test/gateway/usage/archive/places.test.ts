import { copyFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import type { Test } from 'tap';
import { newKey } from '../../../conformance/cast.js';
import { temporaryFolder } from '../../../servers/program.js';
import { startPostgres } from '../../../servers/postgres.js';
import { startCluster } from '../../../servers/redis.js';
import { ago, openStage } from './stage.js';
import { FORMAT } from '../../../../src/gateway/store/format.js';
import { noCounts } from '../../../../src/gateway/store/records/counts.js';
import {
  accept,
  bill,
  copyDatabase,
  count,
  exported,
  imported,
  move,
  newPlace,
  openPlace,
  type Place,
} from './places.js';

t.setTimeout(300_000);
const postgres = await startPostgres();
t.teardown(() => postgres.stop());

/** A state of its Redis, kept as a file. */
async function saved(t: Test, { redis }: Place): Promise<string> {
  await redis.command('SAVE');
  const file = join(temporaryFolder(t), 'dump.rdb');
  copyFileSync(join(redis.folder, 'dump.rdb'), file);
  return file;
}

/** The same Redis, restarted from an earlier state. */
async function restarted(t: Test, { redis, settings, engine, store }: Place, file: string): Promise<Place> {
  await redis.kill();
  copyFileSync(file, join(redis.folder, 'dump.rdb'));
  await redis.restart();
  await Promise.all([engine.close(), store.close()]);
  return openPlace(t, redis, settings.store.archive!);
}

t.test('embedded → Redis: a day that is archived between the two imports is billed once', async (t) => {
  const place = await newPlace(t, await postgres.createDatabase('embedded'));
  const source = await newPlace(t, 'postgres://nobody@127.0.0.1:1/none');
  const key = await newKey(source.engine, 'open');
  await count(source.engine, key, 50, 300);
  await imported(place, await exported(source));
  t.same(await move(place), [ago(50)]);
  await count(source.engine, key, 50, 7);
  const second = await exported(source);
  await imported(place, second);
  t.equal(await bill(place, key, 50), 307, 'with what was counted between the exports');
  t.match(await imported(place, second), { added: 0, changed: 0, raised: 0 }, 'once more changes nothing');
  t.same(await move(place), []);
  t.equal(await bill(place, key, 50), 307);
  await imported(place, await exported(place));
  t.equal(await bill(place, key, 50), 307, 'nor does its own export');
});

t.test('Redis → Redis: either may archive a day between the two imports', async (t) => {
  for (const who of ['new', 'old'] as const) {
    const url = await postgres.createDatabase(`by_${who}`);
    const old = await newPlace(t, url);
    const key = await newKey(old.engine, 'open');
    await count(old.engine, key, 50, 200);
    await count(old.engine, key, 51, 10);
    t.ok(await old.redis.command('HGET', 'petgate:store', 'id'));
    const next = await newPlace(t, url);
    await next.redis.command(
      'HSET',
      'petgate:store',
      'also',
      String(await old.redis.command('HGET', 'petgate:store', 'id')),
    );
    await imported(next, await exported(old));
    if (who === 'old') await count(old.engine, key, 50, 100);
    t.same(await move(who === 'old' ? old : next), [ago(51), ago(50)]);
    if (who === 'new') await count(old.engine, key, 50, 100);
    for (let n = 0; n < 2; n += 1) {
      await imported(next, await exported(old));
      t.equal(await bill(next, key, 50), 300, `archived by the ${who} one`);
    }
    await move(next);
    t.equal(await bill(next, key, 50), 300, 'and after the next move');
    t.equal(await bill(next, key, 51), 10);
    await count(next.engine, key, 50, 5);
    t.equal(await bill(next, key, 50), 305, 'what comes late is on top');
    await imported(next, await exported(old));
    t.equal(await bill(next, key, 50), 305);
  }
});

t.test('Redis lost its data: an export from before the last move', async (t) => {
  const url = await postgres.createDatabase('lost');
  const place = await newPlace(t, url);
  const key = await newKey(place.engine, 'open');
  await count(place.engine, key, 51, 100);
  t.same(await move(place), [ago(51)]);
  await count(place.engine, key, 50, 200);
  const file = await exported(place);
  t.same(await move(place), [ago(50)]);
  const mark = ['id', String(await place.redis.command('HGET', 'petgate:store', 'id')), 'format', FORMAT];
  await place.redis.command('FLUSHALL');
  await place.redis.command('HSET', 'petgate:store', ...mark);
  t.equal(await bill(place, key, 51), 100, 'an empty Redis that was accepted: the archive has its days');
  await move(place);
  t.equal(await place.redis.command('HLEN', 'petgate:archive:moved'), 2, 'the next move notes what there is');
  await imported(place, file);
  for (const what of ['imported', 'moved again']) {
    t.equal(await bill(place, key, 51), 100, what);
    t.equal(await bill(place, key, 50), 200, what);
    await move(place);
  }
  await count(place.engine, key, 51, 3);
  t.equal(await bill(place, key, 51), 103, 'a mark came with the file: late counts are on top');
});

t.test('Redis restored from an RDB older than the last move, or than the first', async (t) => {
  const place = await newPlace(t, await postgres.createDatabase('older'));
  const key = await newKey(place.engine, 'open');
  await count(place.engine, key, 51, 100);
  await count(place.engine, key, 50, 200);
  const first = await saved(t, place);
  t.same(await move(place), [ago(51), ago(50)]);
  await count(place.engine, key, 49, 300);
  const second = await saved(t, place);
  t.same(await move(place), [ago(49)]);
  for (const file of [second, first]) {
    const older = await restarted(t, place, file);
    for (const what of ['restored', 'moved again']) {
      t.equal(await bill(older, key, 51), 100, what);
      t.equal(await bill(older, key, 50), 200, what);
      t.equal(await bill(older, key, 49), 300, what);
      await move(older);
    }
  }
});

t.test('what the archive has and an older Redis has not yet counted is not lost', async (t) => {
  const place = await newPlace(t, await postgres.createDatabase('floor'));
  const key = await newKey(place.engine, 'open');
  await count(place.engine, key, 50, 100);
  const file = await saved(t, place);
  await count(place.engine, key, 50, 50);
  await move(place);
  const older = await restarted(t, place, file);
  t.equal(await bill(older, key, 50), 150);
  await move(older);
  t.equal(await bill(older, key, 50), 150);
});

t.test('a failover to a replica that lacks the deletions of a move', async (t) => {
  const url = await postgres.createDatabase('failover');
  const place = await newPlace(t, url);
  const key = await newKey(place.engine, 'open');
  await count(place.engine, key, 50, 300);
  const file = await saved(t, place);
  await move(place);
  const noted = String(await place.redis.command('HGET', 'petgate:archive:moved', ago(50)));
  const archive = String(await place.redis.command('GET', 'petgate:archive'));
  const replica = await restarted(t, place, file);
  // What was written before the first deletion has arrived.
  await replica.redis.command('SET', 'petgate:archive', archive);
  await replica.redis.command('HSET', 'petgate:archive:moved', ago(50), noted);
  t.equal(await bill(replica, key, 50), 300);
  t.same(await move(replica), [ago(50)]);
  t.equal(await bill(replica, key, 50), 300);
});

t.test('an archive restored to an older state is refused, by the name of each day that it lacks', async (t) => {
  const url = await postgres.createDatabase('yesterday');
  const place = await newPlace(t, url);
  const key = await newKey(place.engine, 'open');
  await count(place.engine, key, 51, 100);
  await move(place);
  await copyDatabase(postgres, 'yesterday', 'dump');
  await count(place.engine, key, 50, 500);
  const older = await exported(place);
  await move(place);
  await copyDatabase(postgres, 'dump', 'yesterday');
  const lacks = { name: 'ArchiveUnavailable', message: new RegExp(`lacks ${ago(50)}.*petgate usage archive accept`) };
  await t.rejects(bill(place, key, 50), lacks);
  await t.rejects(move(place), lacks, 'nothing is moved to it either');
  t.equal(await bill(place, key, 49), 0, 'what does not need that day is answered');
  await t.rejects(imported(place, older), lacks, 'an import of that day can not be compared');
  t.same(await accept(place), [{ day: ago(50), lost: { ...noCounts(), requests: 500, units: 500 } }], 'what is lost');
  t.equal(await bill(place, key, 50), 0);
  await imported(place, older);
  t.equal(await bill(place, key, 50), 500, 'an older export brings it back');
});

t.test('an archive that is lost as a whole is another one, until somebody accepts that', async (t) => {
  const place = await newPlace(t, await postgres.createDatabase('gone'));
  const key = await newKey(place.engine, 'open');
  await count(place.engine, key, 50, 100);
  await move(place);
  await count(place.engine, key, 49, 7);
  await postgres.createDatabase('nothing');
  await copyDatabase(postgres, 'nothing', 'gone');
  await t.rejects(bill(place, key, 50), { name: 'ArchiveUnavailable', message: /petgate usage archive accept/ });
  t.match(await accept(place), [{ day: ago(50), lost: { requests: 100 } }]);
  t.equal(await bill(place, key, 50), 0);
  t.same(await move(place), [ago(49)]);
  t.equal(await bill(place, key, 49), 7);
});

t.test('a Cluster: whole here and archived there, late counts, and the same file twice', async (t) => {
  const cluster = await startCluster();
  t.teardown(() => cluster.stop());
  const source = await newPlace(t, 'postgres://nobody@127.0.0.1:1/none');
  const place = await openStage(t, cluster.url, await postgres.createDatabase('slots'), 80);
  const keys = [await newKey(source.engine, 'open'), await newKey(source.engine, 'open')] as const;
  for (const key of keys) await count(source.engine, key, 50, 100);
  await imported(place, await exported(source));
  t.same(await move(place), [ago(50)]);
  await count(place.engine, keys[0], 50, 3);
  await count(source.engine, keys[1], 50, 5);
  const file = await exported(source);
  await imported(place, file);
  t.match(await imported(place, file), { added: 0, changed: 0, raised: 0 });
  t.equal(await bill(place, keys[0], 50), 103);
  t.equal(await bill(place, keys[1], 50), 105);
  t.same(await move(place), []);
  await imported(source, await exported(place)).then(
    () => t.fail('it has no archive to compare with'),
    (error: unknown) => t.match(error, { message: /archive/i }),
  );
});
