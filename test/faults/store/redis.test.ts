import t from 'tap';
import type { Test } from 'tap';
import { openRedisEngine, type RedisEngine } from '../../../src/gateway/store/redis/engine.js';
import { StoreUnavailable } from '../../../src/gateway/admission/port.js';
import {
  ask,
  askMany,
  count,
  freshId,
  liftBan,
  newKey,
  PLANS,
  rowsOf,
  standing,
  startBan,
  type Actor,
} from '../../conformance/cast.js';
import { keyRecord } from '../../gateway/admission/key-record.js';
import { startRedis, type RedisOptions, type RedisServer } from '../../servers/redis.js';
import { IN_TIME_MS } from '../../servers/in-time.js';
import { until } from '../../servers/until.js';
import { createReporter } from '../../../src/gateway/store/settlements.js';
import { windowOf } from '../../gateway/admission/verdict.js';

const reportsOf = createReporter();

const DEADLINE_MS = 100;
/** For a Redis that waits for its disk, and a set-up that must not fail. */
const PATIENT_MS = 2_000;
const DAY = { from: '2020-01-01', to: '2020-01-01' };

async function setUp(
  t: Test,
  options: RedisOptions = {},
  deadlineMs = DEADLINE_MS,
): Promise<{ server: RedisServer; engine: RedisEngine }> {
  const server = await startRedis(options);
  const engine = openRedisEngine({ url: server.url, deadlineMs, plans: PLANS, usageDays: 400 });
  t.teardown(async () => {
    await engine.close();
    await server.stop();
  });
  await until('Redis decides', async () => (await engine.check(), true));
  return { server, engine };
}

/** Every call of the port, on a store that is unavailable. */
function everyCall(engine: RedisEngine): readonly (readonly [string, () => Promise<unknown>])[] {
  const id = freshId();
  const record = keyRecord(id);
  return [
    [
      'admit',
      () =>
        engine.admit([{ subject: { kind: 'key', id, secretHash: 'x' }, operation: 'listPets', scope: null, cost: 1 }]),
    ],
    [
      'settle',
      () =>
        engine.settle(reportsOf([{ keyId: id, plan: 'free', operation: 'listPets', admittedAtMs: 0, isFailed: true }])),
    ],
    ['keys.read', () => engine.keys.read(id)],
    ['keys.write', () => engine.keys.write(record, { atMs: 0, action: 'created', changed: {} })],
    ['keys.page', () => engine.keys.page(null, 10)],
    ['keys.history', () => engine.keys.history(id)],
    ['customers.read', () => engine.customers.read(id)],
    ['customers.page', () => engine.customers.page(null, 10)],
    ['customers.keyCount', () => engine.customers.keyCount(id)],
    ['bans.read', () => engine.bans.read(id)],
    ['bans.start', () => startBan(engine, id, 1)],
    ['bans.lift', () => liftBan(engine, id)],
    ['usage.rows', () => rowsOf(engine, DAY.from, DAY.to, id)],
    ['check', () => engine.check()],
  ];
}

async function refusesAll(t: Test, engine: RedisEngine): Promise<void> {
  for (const [name, call] of everyCall(engine)) {
    const startMs = performance.now();
    await t.rejects(call(), { name: 'StoreUnavailable' }, name);
    const tookMs = performance.now() - startMs;
    t.ok(tookMs <= IN_TIME_MS, `${name} took ${tookMs.toFixed(1)} ms`);
  }
}

async function recovers(t: Test, engine: RedisEngine): Promise<void> {
  const startMs = performance.now();
  await until('the engine decides again', async () => (await engine.check(), true));
  t.comment(`back after ${(performance.now() - startMs).toFixed(0)} ms`);
}

interface Tally {
  admitted: number;
  refused: number;
  unanswered: number;
  /** Of the unanswered: admitted in time, and answered when nobody waited any more. */
  late: number;
}

/** Asks with many loops at once while `meanwhile` lasts. */
async function traffic(engine: RedisEngine, key: Actor, meanwhile: () => Promise<void>): Promise<Tally> {
  const tally: Tally = { admitted: 0, refused: 0, unanswered: 0, late: 0 };
  const heard: Promise<void>[] = [];
  let over = false;
  const loop = async (): Promise<void> => {
    while (!over) {
      try {
        const [verdict] = await engine.admit([{ subject: key.subject, operation: 'listPets', scope: null, cost: 1 }]);
        tally[verdict?.outcome === 'admitted' ? 'admitted' : 'refused'] += 1;
      } catch (error) {
        if (!(error instanceof StoreUnavailable)) throw error;
        tally.unanswered += 1;
        for (const late of error.late)
          if (late !== undefined)
            heard.push(
              late.then((end) => {
                if (typeof end !== 'string' && end.outcome === 'admitted') tally.late += 1;
              }),
            );
      }
      await new Promise((resolve) => setTimeout(resolve, 1));
    }
  };
  const loops = Promise.all(Array.from({ length: 8 }, loop));
  await meanwhile().finally(() => (over = true));
  await loops;
  await Promise.all(heard);
  return tally;
}

/** Resolves when the key gets no more. */
function limitMet(engine: RedisEngine, key: Actor): Promise<unknown> {
  return until(
    'the limit is met',
    async () => (await ask(engine, key, Date.now(), { cost: 0 })).outcome !== 'admitted',
  );
}

async function requestsOf(engine: RedisEngine, key: Actor): Promise<number> {
  const [from, to] = [Date.now() - 86_400_000, Date.now()].map((atMs) => new Date(atMs).toISOString().slice(0, 10));
  let requests = 0;
  // A busy machine misses a deadline now and then.
  await until('the ledger is read', async () => {
    const rows = await rowsOf(engine, from!, to!, key.id);
    requests = rows.reduce((sum, row) => sum + row.requests, 0);
    return true;
  });
  return requests;
}

t.test('Redis is down at the start: calls are refused, and the engine comes up with it', async (t) => {
  const { server, engine: unused } = await setUp(t);
  await unused.close();
  await server.kill();
  const engine = openRedisEngine({ url: server.url, deadlineMs: DEADLINE_MS, plans: PLANS, usageDays: 400 });
  t.teardown(() => engine.close());
  await refusesAll(t, engine);
  await t.rejects(engine.check(), /ECONNREFUSED/, 'and it is said why');
  await server.restart();
  await recovers(t, engine);
  t.equal((await ask(engine, await newKey(engine, 'free'), Date.now())).outcome, 'admitted');
});

t.test(
  'Redis is killed in the middle: nothing hangs, nothing is admitted twice, what was answered is in the ledger',
  async (t) => {
    const { server, engine } = await setUp(t, { config: ['appendonly yes', 'appendfsync always'] }, PATIENT_MS);
    const key = await newKey(engine, 'pro');
    const tally = await traffic(engine, key, async () => {
      await until('some were admitted', async () => (await requestsOf(engine, key)) > 50);
      await server.kill();
      await refusesAll(t, engine);
      await server.restart();
      await recovers(t, engine);
      await limitMet(engine, key);
    });
    const requests = await requestsOf(engine, key);
    t.comment(JSON.stringify({ ...tally, requests }));
    t.equal(requests, 300, 'never more than the limit');
    t.ok(tally.admitted <= requests, 'every admission that was answered is in the ledger');
    t.ok(requests - tally.admitted <= 8, 'beside those that were under way when it died');
  },
);

t.test('Redis is frozen: a deadline, then nothing, and what was given up is not charged when it wakes', async (t) => {
  const { server, engine } = await setUp(t);
  const key = await newKey(engine, 'pro');
  await askMany(engine, key, 10, Date.now());
  server.freeze();
  const startMs = performance.now();
  const waiting = await Promise.allSettled(
    Array.from({ length: 20 }, () =>
      engine.admit([{ subject: key.subject, operation: 'listPets', scope: null, cost: 1 }]),
    ),
  );
  const tookMs = performance.now() - startMs;
  t.ok(waiting.every((each) => each.status === 'rejected'));
  t.ok(tookMs >= DEADLINE_MS / 2 && tookMs <= IN_TIME_MS, `given up after ${tookMs.toFixed(0)} ms`);
  let refused = 0;
  for (let n = 0; n < 100; n += 1)
    engine.admit([{ subject: key.subject, operation: 'listPets', scope: null, cost: 1 }]).catch(() => (refused += 1));
  await new Promise((resolve) => setImmediate(resolve));
  t.equal(refused, 100, 'then refused at once');
  server.thaw();
  await recovers(t, engine);
  t.equal(await requestsOf(engine, key), 10, 'the twenty that nobody waited for were not charged');
  t.equal(windowOf(standing(await ask(engine, key, Date.now(), { cost: 0 })), 'minute').remaining, 290);
});

t.test('Redis freezes and wakes while requests flow: the ledger is what was admitted', async (t) => {
  const { server, engine } = await setUp(t);
  const key = await newKey(engine, 'pro');
  const tally = await traffic(engine, key, async () => {
    for (let round = 0; round < 3; round += 1) {
      let before: number | undefined;
      await until('some more were admitted', async () => {
        const now = await requestsOf(engine, key);
        return now > (before ??= now) + 10;
      });
      server.freeze();
      await new Promise((resolve) => setTimeout(resolve, 30 + round * 200));
      server.thaw();
      await recovers(t, engine);
    }
    await limitMet(engine, key);
  });
  const requests = await requestsOf(engine, key);
  t.comment(JSON.stringify({ ...tally, requests }));
  t.equal(requests, 300);
  t.equal(tally.admitted + tally.late, requests);
});

t.test('SCRIPT FLUSH at any moment is not noticed', async (t) => {
  const { server, engine } = await setUp(t, {}, PATIENT_MS);
  const key = await newKey(engine, 'pro');
  const tally = await traffic(engine, key, async () => {
    for (let n = 0; n < 20; n += 1) {
      await server.command('SCRIPT', 'FLUSH');
      await engine.keys.read(key.id);
    }
    await limitMet(engine, key);
  });
  t.same([tally.admitted, tally.unanswered, await requestsOf(engine, key)], [300, 0, 300]);
});

t.test('Redis out of memory: refused whole, no half decision, and back when there is room', async (t) => {
  const { server, engine } = await setUp(t, { config: ['maxmemory-policy noeviction'] });
  const key = await newKey(engine, 'free');
  await askMany(engine, key, 10, Date.now());
  const before = standing(await ask(engine, key, Date.now(), { cost: 0 }));
  await server.command('CONFIG', 'SET', 'maxmemory', 1);
  await t.rejects(
    engine.check(),
    { name: 'StoreUnavailable' },
    'the check is not green, though it would write nothing',
  );
  await t.rejects(ask(engine, key, Date.now()), /OOM/, 'says what to do');
  await t.rejects(askMany(engine, key, 5, Date.now()), { name: 'StoreUnavailable' });
  await server.command('CONFIG', 'SET', 'maxmemory', 0);
  await recovers(t, engine);
  const after = standing(await ask(engine, key, Date.now(), { cost: 0 }));
  t.same(after.windows, before.windows);
  t.equal(await requestsOf(engine, key), 10);
});

t.test('a Redis that became a replica refuses, and serves again as master', async (t) => {
  const { server, engine } = await setUp(t);
  const key = await newKey(engine, 'free');
  await server.command('REPLICAOF', '127.0.0.1', 1);
  await t.rejects(ask(engine, key, Date.now()), { name: 'StoreUnavailable' });
  await t.rejects(engine.check(), { name: 'StoreUnavailable' });
  await server.command('REPLICAOF', 'NO', 'ONE');
  await recovers(t, engine);
  t.equal((await ask(engine, key, Date.now())).outcome, 'admitted');
  t.equal(await requestsOf(engine, key), 1);
});

t.test('one damaged record is one key out of order, not the whole store', async (t) => {
  const { server, engine } = await setUp(t);
  const [good, bad] = [await newKey(engine, 'free'), await newKey(engine, 'free')];
  await server.command('SET', `petgate:{${bad.id}}:key`, 'not a hash');
  await t.rejects(ask(engine, bad, Date.now()), { name: 'StoreUnavailable' });
  t.equal((await ask(engine, good, Date.now())).outcome, 'admitted', 'the very next call');
});

t.test(
  'our own event loop stalls beyond the deadline: the verdict that waits in the socket still counts',
  async (t) => {
    const { engine } = await setUp(t);
    const key = await newKey(engine, 'free');
    const pending = ask(engine, key, Date.now());
    await new Promise((resolve) => setImmediate(resolve));
    const stallMs = performance.now() + 3 * DEADLINE_MS;
    while (performance.now() < stallMs);
    t.equal((await pending).outcome, 'admitted');
  },
);

t.test('a wrong password is said clearly and never shown', async (t) => {
  const server = await startRedis({ config: ['requirepass hidden-in-plain-sight'] });
  const engine = openRedisEngine({
    url: server.url.replace('//', '//:open-sesame@'),
    deadlineMs: PATIENT_MS,
    plans: PLANS,
    usageDays: 400,
  });
  t.teardown(async () => {
    await engine.close();
    await server.stop();
  });
  const error = await engine.check().catch((reason: unknown) => reason);
  t.ok(error instanceof StoreUnavailable);
  t.match(String(error), /WRONGPASS.*REDIS_URL/);
  t.notMatch(JSON.stringify([error, String(error), error instanceof Error ? error.stack : '']), /sesame|plain-sight/);
  const right = openRedisEngine({
    url: server.url.replace('//', '//default:hidden-in-plain-sight@'),
    deadlineMs: PATIENT_MS,
    plans: PLANS,
    usageDays: 400,
  });
  t.teardown(() => right.close());
  await right.check();
  t.equal(count([await ask(right, await newKey(right, 'free'), Date.now())], 'admitted'), 1);
});
