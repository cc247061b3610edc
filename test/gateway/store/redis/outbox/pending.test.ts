import t from 'tap';
import type { Test } from 'tap';
import type { RedisEngine } from '../../../../../src/gateway/store/redis/engine.js';
import { editionOf, probeOf } from '../../../../../src/gateway/store/redis/admit/admit.js';
import { knownStoreInMemory } from '../../../../../src/gateway/store/known-store.js';
import { connect } from '../../../../../src/gateway/store/redis/link/connect.js';
import { Link } from '../../../../../src/gateway/store/redis/link/link.js';
import { Replicas } from '../../../../../src/gateway/store/redis/link/replicas.js';
import { parseRedisUrl } from '../../../../../src/gateway/store/redis/link/url.js';
import { PendingEvents } from '../../../../../src/gateway/store/redis/outbox/pending.js';
import { pendingArgs } from '../../../../../src/gateway/store/redis/outbox/entries.js';
import type { GatewayEvent } from '../../../../../src/gateway/store/outbox/event.js';
import {
  customerName,
  EVENTS_COLLECTING,
  eventsName,
  keyName,
} from '../../../../../src/gateway/store/redis/keyspace/names.js';
import {
  ask,
  askMany,
  change,
  custom,
  freshId,
  keyOf,
  liftBan,
  newCustomer,
  newKey,
  NOON_MS,
  PLANS,
} from '../../../../conformance/cast.js';
import { redisEngineFor } from '../../../../conformance/redis-engine.js';
import { toldOf } from '../../../../conformance/told.js';
import { keyRecord } from '../../../admission/key-record.js';
import type { RedisServer } from '../../../../servers/redis.js';
import { until } from '../../../../servers/until.js';

async function open(t: Test, events = true): Promise<{ readonly server: RedisServer; readonly engine: RedisEngine }> {
  const { redis: server, engine } = await redisEngineFor(t, { events });
  await engine.check();
  return { server, engine };
}

t.test('what a process that died has noted is found, once', async (t) => {
  const { server, engine } = await open(t);
  const [key, banned] = [await newKey(engine, 'calm'), await newKey(engine, 'calm')];
  const { id: customer } = await newCustomer(engine, 'calm');
  const own = await keyOf(engine, customer);
  const dayValue = (id: string): string => `3 ${NOON_MS} calm ${keyName(id)}`;
  await server.command('HSET', keyName(key.id), 'telling', '1', 'tell-day-20779-50-5', dayValue(key.id));
  await server.command('HSET', keyName(banned.id), 'telling', '1', `tell-ban-${NOON_MS}`, `2 ${NOON_MS - 5} calm`);
  await server.command('HSET', customerName(customer), 'telling', '1', 'tell-month-20758-80-5', dayValue(own.id));
  t.equal(await engine.outbox.collect(60_000, false), true);
  t.match(await toldOf(engine, key.id), [
    { id: `${key.id}-day-20779-50-5`, atMs: NOON_MS, data: { key: key.id, used: 3, limit: 5, threshold: 50 } },
  ]);
  t.match(await toldOf(engine, banned.id), [
    { type: 'petgate.ban.started', atMs: NOON_MS - 5, data: { level: 2, until: new Date(NOON_MS).toISOString() } },
  ]);
  t.match(await toldOf(engine, customer), [{ data: { customer, key: own.id, window: 'month' } }]);
  for (const name of [keyName(key.id), keyName(banned.id), customerName(customer)]) {
    const fields = (await server.command('HKEYS', name)) as readonly string[];
    t.notOk(
      fields.some((field) => field.startsWith('tell')),
      'no note stays',
    );
  }
  t.equal(await engine.outbox.collect(60_000, true), true);
  t.equal((await toldOf(engine, key.id)).length, 1);
});

t.test('one process of all looks, and none when that was done lately, unless it has just started', async (t) => {
  const { server, engine } = await open(t);
  const key = await newKey(engine, 'calm');
  const leave = (): Promise<unknown> =>
    server.command('HSET', keyName(key.id), 'telling', '1', `tell-ban-${NOON_MS}`, `2 5 calm`);
  await leave();
  await server.command('SET', EVENTS_COLLECTING, '1', 'PX', '60000');
  for (const anew of [false, true]) t.equal(await engine.outbox.collect(60_000, anew), false, 'another is about it');
  t.same(await toldOf(engine, key.id), []);
  await server.command('DEL', EVENTS_COLLECTING);
  t.equal(await engine.outbox.collect(60_000, false), true);
  const [found] = await toldOf(engine, key.id);
  await engine.outbox.delivered(found!.id);
  await leave();
  t.equal(await engine.outbox.collect(60_000, false), true, 'done lately');
  t.same(await toldOf(engine, key.id), []);
  t.ok(Number(await server.command('PTTL', EVENTS_COLLECTING)) > 10_000);
  t.equal(await engine.outbox.collect(60_000, true), true);
  t.equal((await toldOf(engine, key.id)).length, 1);
});

/** What moves pending events, and stands still once it has read some, until `goOn` is called. */
async function stalled(t: Test, url: string): Promise<{ readonly move: (id: string) => void; goOn(): Promise<void> }> {
  const link = new Link(connect(parseRedisUrl(url), 2_000), {
    deadlineMs: 2_000,
    probe: () => probeOf(editionOf(PLANS, 400)),
    known: knownStoreInMemory(),
    environment: null,
    log: undefined,
  });
  t.teardown(() => link.close());
  await link.check('any');
  let [goOn, read]: (() => void)[] = [];
  const gate = new Promise<void>((resolve) => (goOn = resolve));
  const isRead = new Promise<void>((resolve) => (read = resolve));
  const slow = {
    cluster: false,
    run: link.run.bind(link),
    command: link.command.bind(link),
    hash: async (name: string) => {
      const hash = await link.hash(name);
      read!();
      await gate;
      return hash;
    },
  } as unknown as Link;
  const pending = new PendingEvents(slow, new Replicas(link, { replicas: 0, waitMs: 1 }), 2_000);
  t.teardown(() => pending.close());
  return {
    move: (id) => pending.add([id]),
    goOn: async () => {
      await isRead;
      goOn!();
      await pending.idle();
    },
  };
}

t.test('of two processes that find the same pending event one moves it, and it is delivered once', async (t) => {
  const { server, engine } = await open(t);
  const key = await newKey(engine, 'calm');
  await server.command('HSET', keyName(key.id), 'telling', '1', 'tell-ban-9', '2 5 calm');
  const other = await stalled(t, server.url);
  other.move(key.id);
  await engine.outbox.collect(60_000, true);
  const [claimed] = await engine.outbox.claim(10, 60_000);
  t.equal(claimed?.event.id, `${key.id}-ban-9`);
  await engine.outbox.delivered(claimed!.event.id);
  await other.goOn();
  t.same(await engine.outbox.claim(10, 60_000), []);
  t.same(await engine.outbox.figures(), { waiting: 0, dead: 0, oldestMs: 0 });
});

t.test('an event that is withdrawn while it is pending, or being moved, does not come', async (t) => {
  const { server, engine } = await open(t);
  const id = freshId();
  const later: GatewayEvent = {
    id: `${id}-expiring-9`,
    type: 'petgate.key.expiring',
    atMs: Date.now() + 3_600_000,
    data: { customer: null, key: id, ends: new Date(9).toISOString() },
  };
  const entry = { atMs: 1, action: 'changed', changed: {} } as const;
  const other = await stalled(t, server.url);
  const written = engine.keys.write(keyRecord(id), entry, { emit: [later], withdraw: [] });
  await until('it is pending', async () => (await server.command('EXISTS', keyName(id))) === 1);
  other.move(id);
  await written;
  await engine.keys.write({ ...keyRecord(id), version: 2 }, entry, { emit: [], withdraw: [later.id] });
  await other.goOn();
  t.same((await engine.outbox.list('scheduled', null, 1_000)).entries, []);
  const fields = (await server.command('HKEYS', keyName(id))) as readonly string[];
  t.same(
    fields.filter((field) => field.startsWith('tell')),
    [],
  );
});

t.test('a pending event of a change whose process died is found, once, and keeps the hash compact', async (t) => {
  const { server, engine } = await open(t);
  const [key, gone] = [await newKey(engine, 'calm'), await newKey(engine, 'calm')];
  const event: GatewayEvent = {
    id: `${key.id}-0123456789ab`,
    type: 'petgate.key.changed',
    atMs: NOON_MS,
    data: { customer: null, key: key.id, plan: 'business', changed: ['plan', 'limits', 'scopes', 'expiresAtMs'] },
  };
  const [field = '', id = '', entry = ''] = pendingArgs(event);
  await server.command('HSET', eventsName(key.id), id, entry);
  // Of one the entry is gone: it was delivered, or withdrawn.
  for (const each of [key, gone]) await server.command('HSET', keyName(each.id), 'telling', '1', field, '');
  t.equal(String(await server.command('OBJECT', 'ENCODING', keyName(key.id))), 'listpack');
  await engine.outbox.collect(60_000, true);
  t.same(await toldOf(engine, key.id), [event]);
  t.same(await toldOf(engine, gone.id), []);
  for (const each of [key, gone]) t.equal(await server.command('HEXISTS', keyName(each.id), 'telling'), 0);
});

t.test('what is remembered of one that was told stays small, and the hash compact', async (t) => {
  const { server, engine } = await open(t);
  const key = await newKey(engine, 'enterprise', { limits: { minute: 1_000, day: 20, month: 60 } });
  for (const day of [0, 1, 2]) await askMany(engine, key, 20, NOON_MS + day * 86_400_000);
  t.ok((await toldOf(engine, key.id)).length >= 9);
  t.ok(Number(await server.command('HSTRLEN', keyName(key.id), 'told')) <= 64);
  t.equal(String(await server.command('OBJECT', 'ENCODING', keyName(key.id))), 'listpack');
});

t.test('while the store is unavailable nothing of what it noted is lost', async (t) => {
  const { server, engine } = await open(t);
  const key = await newKey(engine, 'enterprise', custom(1_000, 10));
  const asked = ask(engine, key, Date.now(), { cost: 9 });
  process.kill(server.pid, 'SIGSTOP');
  await asked.catch(() => undefined);
  process.kill(server.pid, 'SIGCONT');
  const isAdmitted = async (): Promise<boolean> => {
    const check = await ask(engine, key, Date.now(), { cost: 0 }).catch(() => undefined);
    return check !== undefined && check.outcome !== 'unknown_key';
  };
  await until('it decides again', isAdmitted);
  await ask(engine, key, Date.now(), { cost: 9 }).catch(() => undefined);
  await until('both are told', async () => (await toldOf(engine, key.id).catch(() => [])).length === 2);
  t.same(
    (await toldOf(engine, key.id)).map(({ data }) => data.threshold),
    [50, 80],
  );
});

t.test(
  'without events a ban is noted for the history alone; what a process that died left of it is read once',
  async (t) => {
    const { server, engine } = await open(t, false);
    const key = await newKey(engine, 'strict');
    await askMany(engine, key, 8, NOON_MS);
    t.match(await engine.keys.history(key.id), [{ action: 'created' }, { action: 'banned', atMs: NOON_MS }]);
    const left = [`tell-ban-${NOON_MS + 9}`, `2 ${NOON_MS + 5} strict silent`];
    await server.command('HSET', keyName(key.id), 'telling', '1', ...left);
    const other = await stalled(t, server.url);
    other.move(key.id);
    const [snapshot] = await engine.keys.snapshots(null, 1, '2026-01-01');
    await other.goOn();
    const history = await engine.keys.history(key.id);
    t.match(history, [
      {},
      {},
      { atMs: NOON_MS + 5, changed: { level: 2, until: new Date(NOON_MS + 9).toISOString() } },
    ]);
    t.same(snapshot?.history, history);
    t.same(await toldOf(engine, key.id), []);
    t.equal(await server.command('HEXISTS', keyName(key.id), 'telling'), 0);
  },
);

t.test('without events nothing is noted', async (t) => {
  const { server, engine } = await open(t, false);
  const key = await newKey(engine, 'strict');
  await askMany(engine, key, 20, NOON_MS);
  await change(engine, key, { plan: 'calm' });
  await liftBan(engine, key);
  await askMany(engine, key, 3, NOON_MS + 60_000);
  t.same(await toldOf(engine, key.id), []);
  const fields = (await server.command('HKEYS', keyName(key.id))) as readonly string[];
  t.notOk(fields.some((field) => field.startsWith('tell') || field === 'told'));
  t.equal(await engine.outbox.read(`${key.id}-${freshId()}`), undefined);
});
