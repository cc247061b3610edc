import { join } from 'node:path';
import t from 'tap';
import { engineOn } from '../../../src/gateway/store/embedded/engine.js';
import { storedKeyVerifier } from '../../../src/gateway/store/embedded/records/verifier.js';
import { openStores } from '../../../src/gateway/store/embedded/owner/stores.js';
import { sweepOf } from '../../../src/gateway/store/embedded/sweep.js';
import { openRedisEngine } from '../../../src/gateway/store/redis/engine.js';
import { ledgerName } from '../../../src/gateway/store/redis/keyspace/names.js';
import { dayNumber } from '../../../src/shared/utc-day.js';
import { DAY_MS } from '../../../src/gateway/admission/bucket.js';
import { askMany, dayName, newKey, NOON_MS, PLANS, rowsOf } from '../../conformance/cast.js';
import { temporaryFolder } from '../../servers/program.js';
import { redisFor } from '../../servers/redis.js';
import { createReporter } from '../../../src/gateway/store/settlements.js';

const reportsOf = createReporter();

const KEPT_DAYS = 30;
/** A day goes by the seventh newest day with counts: a clock alone takes none. */
const WITNESSES = 6;

t.test('embedded: the sweep takes a day once it is older than the days kept, and no day before', async (t) => {
  const folder = join(temporaryFolder(t), 'admission');
  const options = { folder, mapBytes: 64 * 2 ** 20 };
  const stores = openStores(options);
  const verifier = storedKeyVerifier(stores, PLANS);
  const engine = engineOn(stores, verifier, KEPT_DAYS);
  t.teardown(() => engine.close());
  const sweep = sweepOf(stores, KEPT_DAYS, verifier);
  const key = await newKey(engine, 'open');
  const failure = { keyId: key.id, plan: 'open', operation: 'createPet' };
  for (let day = 0; day < KEPT_DAYS + WITNESSES + 5; day += 1) {
    const nowMs = NOON_MS + day * DAY_MS;
    await askMany(engine, key, 3, nowMs);
    await engine.settle(reportsOf([{ ...failure, admittedAtMs: nowMs, isFailed: true }]));
    await stores.fold.run();
    await sweep(nowMs);
    const rows = await rowsOf(engine, dayName(NOON_MS), dayName(nowMs));
    const first = Math.max(0, day - KEPT_DAYS - WITNESSES);
    const expected = Array.from({ length: day - first + 1 }, (_, n) => dayName(NOON_MS + (first + n) * DAY_MS));
    t.same([...new Set(rows.map((row) => row.day))], expected);
    t.equal(
      rows.reduce((sum, { requests }) => sum + requests, 0),
      3 * expected.length,
      'what is kept is kept whole',
    );
  }
});

t.test('redis: every day of the ledger ends by itself after the days kept, whatever wrote it first', async (t) => {
  const redis = await redisFor(t);
  const engine = openRedisEngine({ url: redis.url, deadlineMs: 10_000, plans: PLANS, usageDays: KEPT_DAYS });
  t.teardown(() => engine.close());
  const key = await newKey(engine, 'strict');
  const nameOf = (day: number): string => ledgerName(key.id, dayNumber(NOON_MS) + day);
  const failure = (day: number) => ({
    keyId: key.id,
    plan: 'open',
    operation: 'createPet',
    admittedAtMs: NOON_MS + day * DAY_MS,
    isFailed: true,
  });
  await askMany(engine, key, 3, NOON_MS);
  await engine.settle(reportsOf([failure(1)]));
  await engine.settle(reportsOf([failure(0)]));
  await askMany(engine, key, 1, NOON_MS + 2 * DAY_MS);
  await redis.command('EXPIRE', nameOf(2), 1_000);
  await askMany(engine, key, 1, NOON_MS + 2 * DAY_MS + 120_000);
  for (const day of [0, 1]) {
    const ttl = Number(await redis.command('TTL', nameOf(day)));
    t.ok(
      ttl > KEPT_DAYS * 86_400 && ttl <= (KEPT_DAYS + 1) * 86_400,
      `day ${day}: a day longer than kept, for the day itself`,
      { ttl },
    );
  }
  t.ok(Number(await redis.command('TTL', nameOf(2))) <= 1_000, 'later counts do not make a day live longer');
  const lasting = [];
  for (const name of (await redis.command('KEYS', 'petgate:*')) as string[])
    if (Number(await redis.command('TTL', name)) === -1)
      lasting.push(name.replace(key.id, 'ID').replace(/\{\d+\}/, '{N}'));
  t.same(
    [...new Set(lasting)].sort(),
    ['petgate:keys', 'petgate:store', 'petgate:{ID}:history', 'petgate:{ID}:key', 'petgate:{N}:store'],
    'only records of keys and the id of the store stay for ever',
  );
  await redis.command('PEXPIREAT', nameOf(0), 1);
  t.same(
    [...new Set((await rowsOf(engine, dayName(NOON_MS), dayName(NOON_MS + 9 * DAY_MS), key.id)).map(({ day }) => day))],
    [1, 2].map((day) => dayName(NOON_MS + day * DAY_MS)),
    'a day that ended is in no report',
  );
});
