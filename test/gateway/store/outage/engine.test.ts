import t from 'tap';
import { StoreUnavailable } from '../../../../src/gateway/admission/port.js';
import {
  ask,
  askMany,
  banned,
  change,
  count,
  custom,
  dayName,
  limited,
  newKey,
  requestOf,
  rowsOf,
  standing,
  startBan,
} from '../../../conformance/cast.js';
import { checkDoors, doorActors } from '../../../conformance/doors.js';
import { until } from '../../../servers/until.js';
import {
  DEADLINE_MS,
  back,
  durableRedis,
  isUnavailable,
  learnt,
  ledgerOf,
  openGateway,
  outageBegins,
  outageEnds,
  served,
  startGateway,
} from './fixture.js';
import { createReporter } from '../../../../src/gateway/store/settlements.js';
import { windowOf } from '../../admission/verdict.js';

const reportsOf = createReporter();

const now = (): number => Date.now();

t.test('while Redis is unavailable a key that was seen has its share of each limit, and no more', async (t) => {
  const { server, engine } = await startGateway(t, { gateways: 3 });
  const key = await newKey(engine, 'pro');
  const own = await newKey(engine, 'enterprise', custom(7, 'unlimited'));
  for (const each of [key, own]) t.equal((await ask(engine, each, now(), { cost: 0 })).outcome, 'admitted');
  await learnt(engine, key, own);
  await outageBegins(server, engine);
  const verdicts = await askMany(engine, key, 120, now());
  t.equal(count(verdicts, 'admitted'), 100);
  const refused = limited(verdicts[110]!);
  t.same([windowOf(refused, 'minute').limit, windowOf(refused, 'day').limit, refused.violated], [100, 3_333, 'minute']);
  t.equal(count(await askMany(engine, own, 5, now()), 'admitted'), 2, 'of limits on the key itself too');
  await outageEnds(server, engine);
  await until('all is in the ledger', async () => (await ledgerOf(engine, key)).requests === 100);
  t.match(await ledgerOf(engine, key), { requests: 100, limited: 20, banned: 0 });
  t.equal(
    windowOf(standing(await ask(engine, key, now(), { cost: 0 })), 'day').remaining,
    9_900,
    'and spent from the day',
  );
  t.equal(
    windowOf(standing(await ask(engine, key, now(), { cost: 0 })), 'minute').limit,
    300,
    'the whole limit holds again',
  );
});

t.test('while Redis is unavailable the door asks for bans, limits and scopes as it does otherwise', async (t) => {
  const { server, engine } = await startGateway(t);
  const actors = await doorActors(engine);
  await learnt(engine, ...actors.keys.map(({ actor }) => actor));
  await outageBegins(server, engine);
  await askMany(engine, actors.address, 16, now());
  await checkDoors(t, engine, actors);
});

t.test(
  'a key nobody saw here is refused as undecided, so is a secret nobody knows of a known one, which may be ' +
    'newer, and addresses have their share',
  async (t) => {
    const { server, engine } = await startGateway(t, { gateways: 2 });
    const [known, unseen] = [await newKey(engine, 'free'), await newKey(engine, 'free')];
    await ask(engine, known, now());
    await learnt(engine, known);
    await outageBegins(server, engine);
    const wrong = { kind: 'key', id: known.id, secretHash: 'another' } as const;
    const error: unknown = await engine
      .admit([requestOf(known.subject, now()), requestOf(unseen.subject, now()), requestOf(wrong, now())])
      .catch((reason: unknown) => reason);
    if (!(error instanceof StoreUnavailable)) throw new Error('expected StoreUnavailable');
    t.match(
      error.decided,
      [{ outcome: 'admitted' }, undefined, undefined],
      'one that is not known spoils nothing for the others',
    );
    const verdicts = await askMany(engine, { kind: 'address', address: '192.0.2.1' }, 4, now());
    t.equal(count(verdicts, 'admitted'), 2, 'of five a minute');
    const [alone] = [await newKey(engine, 'strict').catch((reason: unknown) => reason)];
    t.ok(alone instanceof StoreUnavailable, 'keys are not made meanwhile');
    await t.rejects(
      rowsOf(engine, dayName(now()), dayName(now())),
      { name: 'StoreUnavailable' },
      'nor is the ledger told',
    );
    const own = [];
    for await (const rows of engine.failover.ownUsage.rows(dayName(now()), dayName(now()), known.id)) own.push(...rows);
    t.match(own, [{ requests: 1 }], 'only what was counted here, to the key itself');
  },
);

t.test('a limit of which a gateway has no whole token is not granted here', async (t) => {
  const { server, engine } = await startGateway(t, { gateways: 2 });
  const key = await newKey(engine, 'strict');
  await ask(engine, key, now(), { cost: 0 });
  await learnt(engine, key);
  await outageBegins(server, engine);
  await t.rejects(ask(engine, key, now()), { name: 'StoreUnavailable' });
});

t.test('a key revoked or changed by another gateway is not good from its copy', async (t) => {
  const server = await durableRedis(t);
  const [here, there] = [openGateway(t, server).engine, openGateway(t, server).engine];
  const [revoked, scoped, limitedTo, kept] = [
    await newKey(there, 'free'),
    await newKey(there, 'free'),
    await newKey(there, 'free'),
    await newKey(there, 'free'),
  ];
  for (const key of [revoked, scoped, limitedTo, kept]) await ask(here, key, now(), { cost: 0 });
  await learnt(here, revoked, scoped, limitedTo, kept);
  await change(there, revoked, { status: 'revoked', secrets: [] });
  await change(there, scoped, { scopes: ['pets:read'] });
  await change(there, limitedTo, { plan: 'calm' });
  await startBan(there, kept, now() + 600_000);
  await change(there, kept, {});
  await learnt(here, revoked, scoped, limitedTo, kept);
  await outageBegins(server, here);
  t.match(await ask(here, revoked, now()), { outcome: 'unknown_key', reason: 'revoked' });
  t.match(await ask(here, scoped, now(), { scope: 'pets:write' }), { outcome: 'admitted', inScope: false });
  t.equal(windowOf(standing(await ask(here, limitedTo, now())), 'minute').limit, 3);
  t.equal(banned(await ask(here, kept, now())).bannedUntilMs > now() + 500_000, true, 'a ban set there holds here');
});

t.test('what was spent and the ban in force when Redis went away hold on here', async (t) => {
  const { server, engine } = await startGateway(t, { gateways: 2 });
  const [spent, locked] = [await newKey(engine, 'free'), await newKey(engine, 'strict', { plan: 'free' })];
  await askMany(engine, spent, 50, now());
  await askMany(engine, locked, 60 + 30, now());
  await learnt(engine, spent, locked);
  await outageBegins(server, engine);
  const verdicts = await askMany(engine, spent, 20, now());
  t.equal(count(verdicts, 'admitted'), 5, 'half of the ten that were left');
  t.equal(windowOf(limited(verdicts[19]!), 'minute').limit, 30);
  t.equal(banned(await ask(engine, locked, now())).level, 1);
});

t.test('a day that is spent is spent when Redis is back, over several outages', async (t) => {
  const { server, engine } = await startGateway(t);
  const key = await newKey(engine, 'enterprise', custom('unlimited', 100));
  let admitted = count(await askMany(engine, key, 30, now()), 'admitted');
  await learnt(engine, key);
  for (const asked of [20, 20]) {
    await outageBegins(server, engine);
    admitted += count(await askMany(engine, key, asked, now()), 'admitted');
    await outageEnds(server, engine);
    admitted += count(await askMany(engine, key, 5, now()), 'admitted');
  }
  t.equal(admitted, 80);
  admitted += count(await askMany(engine, key, 50, now()), 'admitted');
  t.equal(admitted, 100, 'the day is the day');
  await until('all is in the ledger', async () => (await ledgerOf(engine, key)).requests === 100);
});

t.test('the first request that Redis decides again finds the day as spent as it is', async (t) => {
  const { server, engine } = await startGateway(t);
  const keys = await Promise.all(
    Array.from({ length: 20 }, () => newKey(engine, 'enterprise', custom('unlimited', 20))),
  );
  await served(engine, ...keys);
  await outageBegins(server, engine);
  for (const key of keys) t.equal(count(await askMany(engine, key, 25, now()), 'admitted'), 20);
  await server.restart();
  while (isUnavailable(engine)) await new Promise((resolve) => setImmediate(resolve));
  const verdicts = await engine.admit(keys.map(({ subject }) => requestOf(subject, now())));
  t.equal(count(verdicts, 'limited'), 20);
});

t.test('frozen: what waited for an answer is refused, whatever comes after is decided here at once', async (t) => {
  const { server, engine } = await startGateway(t);
  const key = await newKey(engine, 'pro');
  t.equal(count(await askMany(engine, key, 10, now()), 'admitted'), 10);
  await learnt(engine, key);
  server.freeze();
  const waiting = await Promise.allSettled([1, 2, 3].map(() => askMany(engine, key, 1, now())));
  t.same(
    waiting.map(({ status }) => status),
    ['rejected', 'rejected', 'rejected'],
    'Redis may have decided these',
  );
  t.ok(isUnavailable(engine));
  const startMs = performance.now();
  for (let n = 0; n < 100; n += 1) t.equal((await ask(engine, key, now())).outcome, 'admitted');
  t.ok(performance.now() - startMs < 20 * DEADLINE_MS, 'nothing waits: a hundred deadlines would take longer');
  await engine.settle(
    reportsOf([{ keyId: key.id, plan: 'pro', operation: 'listPets', admittedAtMs: now(), isFailed: true }]),
  );
  server.thaw();
  await back(engine);
  await until('all is in the ledger', async () => (await ledgerOf(engine, key)).requests === 110);
  t.match(await ledgerOf(engine, key), { requests: 110, failed: 1 });
});

t.test(
  'Redis is unavailable at the start: keys known from before are served, and the count of gateways is the one ' +
    'last seen',
  async (t) => {
    const server = await durableRedis(t);
    const first = openGateway(t, server, { gateways: 'auto' });
    const other = openGateway(t, server, { gateways: 'auto' });
    const key = await newKey(first.engine, 'free');
    await ask(first.engine, key, now(), { cost: 0 });
    await learnt(first.engine, key);
    await until(
      'both are seen',
      () => first.engine.failover.gateways() === 2 && other.engine.failover.gateways() === 2,
    );
    await server.kill();
    await first.engine.close();
    const again = openGateway(t, server, { gateways: 'auto', folder: first.folder });
    await again.engine.check();
    t.equal(count(await askMany(again.engine, key, 40, now()), 'admitted'), 30);
    await until('it is counted', () => again.engine.failover.spooled() === 30);
    await again.engine.close();
    const third = openGateway(t, server, { gateways: 'auto', folder: first.folder });
    await third.engine.check();
    await outageEnds(server, third.engine);
    await until(
      'all is in the ledger, though another process counted it',
      async () => (await ledgerOf(third.engine, key)).requests === 30,
    );
    t.equal(third.engine.failover.spooled(), 0);
  },
);

t.test('a copy that is older than a day is none', async (t) => {
  const { server, engine } = await startGateway(t);
  const key = await newKey(engine, 'free');
  await ask(engine, key, now(), { cost: 0 });
  await learnt(engine, key);
  await outageBegins(server, engine);
  t.equal((await ask(engine, key, now())).outcome, 'admitted');
  const { now: clock } = Date;
  t.teardown(() => (Date.now = clock));
  Date.now = () => clock() + 86_400_000;
  t.equal(engine.cached(key.id), undefined);
  await t.rejects(ask(engine, key, now()), { name: 'StoreUnavailable' });
  Date.now = clock;
});
