import { writeFileSync } from 'node:fs';
import { join as pathOf } from 'node:path';
import t from 'tap';
import type { Test } from 'tap';
import { startGateway, type Gateway } from '../../servers/gateway.js';
import { NO_BAN } from '../../servers/plans.js';
import { childrenOf, temporaryFolder } from '../../servers/program.js';
import { startSentinel, type RedisSentinel } from '../../servers/redis.js';
import { until } from '../../servers/until.js';
import { startUpstream } from '../../servers/upstream.js';
import { caughtUp, cutLink, pauseWrites } from '../replication.js';
import { HOLD, ledgerOf, logged, startClients, Streams, type Load } from './streams.js';

/** PETGATE_LONG=1: a thousand streams at once. */
const IS_LONG = process.env['PETGATE_LONG'] === '1';
/** Streams that the plan allows at once, and clients that want one. */
const AT_ONCE = IS_LONG ? 1_000 : 30;
const CLIENTS = AT_ONCE * 1.2;
const LIMIT = IS_LONG ? 300_000 : 8_000;
const STEP_MS = IS_LONG ? 800 : 40;
const PAUSE_MS = IS_LONG ? 600 : 60;
const COST = { hold: HOLD, from: { json: '/usage/total_tokens' } };
const CONTRACT = { openapi: '3.0.3', paths: { '/ask': { post: { operationId: 'ask', 'x-petgate': { cost: COST } } } } };
const PLANS = {
  tokens: {
    limits: { minute: 'unlimited', day: 'unlimited', month: LIMIT },
    concurrency: AT_ONCE,
    ban: NO_BAN,
  },
  anonymous: { limits: { minute: 10, day: 10 }, ban: NO_BAN },
};

interface Seat {
  readonly gateway: Gateway;
  readonly keyId: string;
  readonly load: Load;
}

/** Gateways before one upstream; each has a key of the same customer, and clients with that. */
async function startFleet(t: Test, count: number, sentinel: RedisSentinel | null, workers: number) {
  const streams = new Streams(await startUpstream(t), STEP_MS);
  const contract = pathOf(temporaryFolder(t), 'contract.json');
  writeFileSync(contract, JSON.stringify(CONTRACT));
  const environment = { PETGATE_CONTRACT: contract, ...(sentinel === null ? {} : { REDIS_URL: sentinel.url }) };
  const config = {
    workers,
    log: { access: true },
    limits: { caller_share: 1 },
    store: { on_failure: 'refuse' },
    upstreams: { default: { addresses: [streams.upstream.url], connections: 2 * CLIENTS } },
  };
  const start = (): Promise<Gateway> => startGateway(t, { plans: PLANS, config, environment });
  const gateways = await Promise.all(Array.from({ length: count }, start));
  let customer: string | undefined;
  // On a busy machine Redis may be reached later than the gateway serves.
  await until('there is a customer', async () => {
    const { body } = await gateways[0]!.admin('POST', '/admin/v1/customers', { name: 'Acme', plan: 'tokens' });
    customer = (body as { id?: string }).id;
    return customer !== undefined;
  });
  const seatOf = async (gateway: Gateway): Promise<Seat> => {
    const { id, key } = await gateway.createKey({ customer, name: 'one of several' });
    return { gateway, keyId: id, load: startClients(gateway, key, CLIENTS / count, PAUSE_MS) };
  };
  const join = async (): Promise<Seat> => seatOf(await start());
  return { streams, seats: await Promise.all(gateways.map(seatOf)), join };
}

const runsOn = (streams: Streams): Promise<void> => {
  const before = streams.total.seen;
  return until('the load runs', () => streams.total.seen > before + AT_ONCE);
};

/** What a key's bill is made of: the upstream's figures, holds without one, and a unit for what was not sent to it. */
async function billOf(streams: Streams, { gateway, keyId }: Seat, asked: Gateway, held = 0) {
  const { seen, sum, lost } = streams.of(gateway.port);
  const { notSent, unknown } = logged(gateway);
  const { requests, net } = await ledgerOf(asked, keyId);
  // Redis admitted these, and could not say so.
  const unheard = requests - seen - notSent;
  return { net, expected: sum + (lost + held + unheard) * HOLD + notSent, unheard, unknown };
}

async function isBilled(streams: Streams, seat: Seat, asked: Gateway, held = 0): Promise<boolean> {
  const { net, expected, unheard, unknown } = await billOf(streams, seat, asked, held);
  return net === expected && unheard >= 0 && unheard <= unknown;
}

async function checkBills(t: Test, streams: Streams, seats: readonly Seat[], asked: Gateway): Promise<void> {
  for (const seat of seats) {
    await until('it is settled', () => isBilled(streams, seat, asked), 20_000).catch(() => undefined);
    const { net, expected, unheard, unknown } = await billOf(streams, seat, asked);
    t.equal(net, expected, 'the bill is right to the unit');
    t.ok(unheard >= 0 && unheard <= unknown, 'each request is counted once', { unheard, unknown });
  }
}

function report(t: Test, streams: Streams, seats: readonly Seat[]): void {
  const { seen, sum, lost } = streams.total;
  const { excess, mostOpen, mostUsed } = streams;
  const tallies = seats.map(({ load }) => Object.fromEntries(load.tally));
  t.comment(JSON.stringify({ seen, sum, lost, excess, mostOpen, mostUsed, tallies }));
}

t.setTimeout(600_000);

t.test(
  'Redis stalls and changes its master, a gateway is killed: the bill is what was used and the holds that were lost',
  async (t) => {
    const sentinel = await startSentinel({ downAfterMs: 60_000 });
    t.teardown(() => sentinel.stop());
    const { streams, seats } = await startFleet(t, 3, sentinel, 1);
    const [victim, other, last] = seats as [Seat, Seat, Seat];
    await runsOn(streams);

    const master = await sentinel.master();
    const { sum } = streams.total;
    master.freeze();
    await until('nothing passes', () => streams.open === 0 || streams.total.sum > sum + AT_ONCE * HOLD);
    master.thaw();
    await runsOn(streams);

    streams.silentPort = victim.gateway.port;
    victim.load.stop();
    await until('the killed gateway has only open streams', () =>
      isBilled(streams, victim, other.gateway, streams.silent.size),
    );
    const held = streams.silent.size;
    t.ok(held > 0, 'there are some');
    await victim.gateway.program.stop('SIGKILL');
    await victim.load.done;

    await runsOn(streams);
    await pauseWrites(master);
    await sentinel.switchOver();
    await runsOn(streams);
    await Promise.all([other.load.done, last.load.done]);

    t.equal(streams.of(victim.gateway.port).lost, held, 'the upstream saw them break off');
    t.equal(streams.total.lost, held, 'and no other');
    await other.gateway.program.stop('SIGTERM');
    await checkBills(t, streams, seats, last.gateway);
    t.equal(
      seats.reduce((tokens, { gateway }) => tokens + logged(gateway).tokens, 0),
      streams.total.sum,
      'the log has what the responses said',
    );
    t.ok(streams.mostUsed <= LIMIT, 'never more was used and held than the limit', { most: streams.mostUsed });
    t.ok(streams.mostOpen <= AT_ONCE, 'never more streams than allowed', { most: streams.mostOpen });
    report(t, streams, seats);
  },
);

t.test(
  'a failover that loses writes takes the holds of lost admissions from the bill, and leaves those of lost settlements',
  async (t) => {
    const sentinel = await startSentinel({ downAfterMs: 60_000 });
    t.teardown(() => sentinel.stop());
    const { streams, seats, join } = await startFleet(t, 2, sentinel, 1);
    await runsOn(streams);

    const master = await sentinel.master();
    const replica = sentinel.servers.find((server) => server !== master)!;
    await caughtUp(master, replica);
    const before = { seen: streams.total.seen, excess: streams.excess };
    await cutLink(replica);
    await runsOn(streams);
    await sentinel.failover();
    const atRisk = streams.total.seen - before.seen + AT_ONCE;
    await runsOn(streams);
    const excess = streams.excess - before.excess;
    const later = await join();
    await Promise.all([...seats, later].map(({ load }) => load.done));

    for (const { gateway } of seats) await gateway.program.stop('SIGTERM');
    let [lost, unsure] = [0, 0];
    for (const seat of seats) {
      const { net, expected, unheard, unknown } = await billOf(streams, seat, later.gateway);
      const missing = expected - unheard * HOLD - net;
      [lost, unsure] = [lost - unheard, unsure + unknown];
      t.ok(missing <= (unknown - unheard) * HOLD + excess, 'no more is missing than was held', { missing, unheard });
      t.ok(missing >= -(atRisk + unknown) * HOLD, 'and no more stays charged', { missing, atRisk });
    }
    t.ok(lost > 0, 'admissions were lost');
    await checkBills(t, streams, [later], later.gateway);
    const most = lost + unsure;
    t.ok(streams.mostUsed <= LIMIT + most * HOLD, 'the limit gives way by the lost holds', {
      used: streams.mostUsed,
      most,
    });
    t.ok(streams.mostOpen <= AT_ONCE + most, 'and so do the streams at once', { open: streams.mostOpen, most });
    report(t, streams, [...seats, later]);
  },
);

t.test('workers on the embedded store: a killed one leaves its holds charged, and nothing else', async (t) => {
  const { streams, seats } = await startFleet(t, 1, null, 2);
  const [seat] = seats as [Seat];
  const { gateway, load } = seat;
  await runsOn(streams);
  streams.silentPort = gateway.port;
  load.stop();
  await until('all streams are held', () => isBilled(streams, seat, gateway, streams.silent.size));
  const held = streams.silent.size;
  process.kill(childrenOf(gateway.program.pid)[0]!, 'SIGKILL');
  await until('some break off', () => streams.total.lost > 0);
  const killed = streams.total.lost;
  // The upstream of the other worker breaks off: its responses have no figure, and cost their hold.
  for (const response of streams.silent) response.destroy();
  await load.done;
  t.ok(killed < held, 'some had another worker', { killed, held });
  t.equal(streams.total.lost, held);
  await checkBills(t, streams, seats, gateway);
  t.ok(streams.mostUsed <= LIMIT, 'never more was used and held than the limit', { most: streams.mostUsed });
  t.ok(streams.mostOpen <= AT_ONCE, 'never more streams than allowed', { most: streams.mostOpen });
  report(t, streams, seats);
});
