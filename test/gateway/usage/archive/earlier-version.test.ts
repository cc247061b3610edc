import pg from 'pg';
import t from 'tap';
import { ledgerName } from '../../../../src/gateway/store/redis/keyspace/names.js';
import { dayNumber } from '../../../../src/shared/utc-day.js';
import { newKey } from '../../../conformance/cast.js';
import { startPostgres } from '../../../servers/postgres.js';
import { ago, agoMs } from './stage.js';
import { bill, count, exported, imported, move, newPlace, type Place } from './places.js';

t.setTimeout(300_000);
const postgres = await startPostgres();
t.teardown(() => postgres.stop());

async function ask({ settings }: Place, sql: string, ...values: readonly unknown[]): Promise<void> {
  const client = new pg.Client({ connectionString: settings.store.archive! });
  await client.connect();
  try {
    await client.query(sql, [...values]);
  } finally {
    await client.end();
  }
}

/** What version 0.3 had left of a day that this version moved: `moved` as a whole, or in the midst of it. */
async function asBy03(place: Place, keyId: string, days: number, moved: boolean): Promise<void> {
  const { redis } = place;
  for (const field of (await redis.command('HKEYS', `petgate:{${keyId}}:key`)) as string[])
    if (field.startsWith('archived-')) await redis.command('HDEL', `petgate:{${keyId}}:key`, field);
  await redis.command('HDEL', 'petgate:archive:moved', ago(days));
  await redis.command('ZADD', 'petgate:archive:days', 0, ago(days));
  await ask(place, 'update ledger_days set moved = $2 where day = $1', ago(days), moved);
}

t.test('days that version 0.3 moved, with what came late, are read and marked', async (t) => {
  const place = await newPlace(t, await postgres.createDatabase('moved'));
  const { redis, engine } = place;
  const key = await newKey(engine, 'open');
  await count(engine, key, 50, 100);
  await move(place);
  await asBy03(place, key.id, 50, true);
  await ask(place, 'delete from ledger_migrations where version > 1');
  await redis.command('HINCRBY', ledgerName(key.id, dayNumber(agoMs(50))), 'open|listPets|requests', 7);
  t.equal(await bill(place, key, 50), 107, 'what is in the store comes on top');
  const other = await newPlace(t, place.settings.store.archive!);
  const id = String(await redis.command('HGET', 'petgate:store', 'id'));
  await other.redis.command('HSET', 'petgate:store', 'also', id);
  await imported(other, await exported(place));
  t.equal(await bill(other, key, 50), 107, 'also where an import brought it');
  for (const each of [place, other]) {
    t.same(await move(each), []);
    t.equal(await bill(each, key, 50), 107, 'the move marks it');
    await count(each.engine, key, 50, 3);
    t.equal(await bill(each, key, 50), 110);
    t.same(await move(each), []);
    t.equal(await bill(each, key, 50), 110);
  }
  t.equal(await redis.command('EXISTS', 'petgate:archive:days'), 0);
});

t.test('a move that version 0.3 began is ended', async (t) => {
  const place = await newPlace(t, await postgres.createDatabase('begun'));
  const { redis, engine } = place;
  const keys = [await newKey(engine, 'open'), await newKey(engine, 'open')] as const;
  for (const key of keys) await count(engine, key, 50, 100);
  await move(place);
  // Of one the store had let go, with a mark in its ledger; of the other it had not.
  for (const key of keys) await asBy03(place, key.id, 50, false);
  await redis.command('HSET', ledgerName(keys[0].id, dayNumber(agoMs(50))), 'on top', '1');
  await redis.command('HSET', ledgerName(keys[1].id, dayNumber(agoMs(50))), 'open|listPets|requests', 105);
  for (const what of ['before', 'after']) {
    t.equal(await bill(place, keys[0], 50), 100, what);
    t.equal(await bill(place, keys[1], 50), 105, what);
    await move(place);
  }
  await count(engine, keys[1], 50, 1);
  t.equal(await bill(place, keys[1], 50), 106);
});

t.test('a day that version 0.3 had named and not written is moved', async (t) => {
  const place = await newPlace(t, await postgres.createDatabase('named'));
  const key = await newKey(place.engine, 'open');
  await count(place.engine, key, 51, 1);
  await move(place);
  await count(place.engine, key, 50, 100);
  await place.redis.command('ZADD', 'petgate:archive:days', 0, ago(50));
  t.same(await move(place), [ago(50)]);
  t.equal(await bill(place, key, 50), 100);
});
