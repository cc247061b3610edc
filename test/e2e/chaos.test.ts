import { setTimeout as sleep } from 'node:timers/promises';
import t from 'tap';
import type { Test } from 'tap';
import { checkHonest, codeOf } from '../answers/honest.js';
import { freePort } from '../servers/free-port.js';
import { startGateway } from '../servers/gateway.js';
import type { Gateway } from '../servers/gateway.js';
import { childrenOf, temporaryFolder } from '../servers/program.js';
import { startRedis } from '../servers/redis.js';
import type { RedisServer } from '../servers/redis.js';
import { until } from '../servers/until.js';
import { startUpstream } from '../servers/upstream.js';
import type { Upstream } from '../servers/upstream.js';
import { openClient } from './client.js';
import type { Client } from './client.js';
import { learnt } from './copies.js';
import { createKey, figure } from './fleet.js';
import { ledgerOf } from './ledger.js';

/** Everything that may happen to a fleet, in an order that the seed decides: PETGATE_CHAOS=<seed>,<events> repeats a run, or makes it longer. */
const [seed = Math.floor(Math.random() * 1_000_000), events = 10] = (process.env['PETGATE_CHAOS'] ?? '').split(',').filter(Boolean).map(Number);
const KEYS = 6;
const EACH = 2;
const ban = { after: 1_000_000, within: '60s', for: '5m', factor: 2, cap: '24h' };
const ROOMY = { limits: { minute: 1_000_000, day: 1_000_000 }, ban };
const PLANS = { roomy: ROOMY, roomier: ROOMY, anonymous: ROOMY };
/** Answers of a request whose admission nobody knows: Redis may have counted it and not been heard. */
const UNKNOWN = new Set(['store_unavailable', 'overloaded', 'internal_error']);

/** A key, and what its holder saw. */
interface Holder {
  readonly id: string;
  key: string;
  admitted: number;
  unknown: number;
  /** 5xx among the admitted. */
  failed: number;
}

interface Seat {
  /** Kept over restarts, and when both workers are dead at once: with any free one the next would listen elsewhere. */
  readonly port: number;
  gateway: Gateway;
  /** null while it starts again. */
  client: Client | null;
  served: number;
}

/** Numbers from 0 to 1 that a seed decides (mulberry32). */
function randomOf(state: number): () => number {
  let a = state;
  return () => {
    a = (a + 0x6d2b79f5) | 0;
    let mixed = Math.imul(a ^ (a >>> 15), 1 | a);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296;
  };
}

class Fleet {
  readonly tally = new Map<string, number>();
  readonly holders: Holder[] = [];
  readonly seats: Seat[] = [];
  readonly upstream: Upstream;
  readonly #t: Test;
  readonly #redis: RedisServer | null;
  #stopped = false;
  #askers: Promise<void>[] = [];

  /** @param redis null: the embedded engine */
  constructor(t: Test, redis: RedisServer | null, upstream: Upstream) {
    this.#t = t;
    this.#redis = redis;
    this.upstream = upstream;
  }

  get redis(): RedisServer {
    if (this.#redis === null) throw new Error('there is no Redis here');
    return this.#redis;
  }

  async open(gateways: number): Promise<void> {
    for (let n = 0; n < gateways; n += 1) {
      const port = await freePort();
      const gateway = await this.#start(temporaryFolder(this.#t), port);
      this.seats.push({ port, gateway, client: openClient(this.#t, gateway.url, KEYS * EACH), served: 0 });
    }
    for (let n = 0; n < KEYS; n += 1) this.holders.push({ ...(await createKey(this.seats[0]!.gateway, 'roomy')), admitted: 0, unknown: 0, failed: 0 });
    this.#askers = this.seats.flatMap((seat) => this.holders.flatMap((holder) => Array.from({ length: EACH }, () => this.#ask(seat, holder))));
    if (this.#redis !== null) for (const { gateway } of this.seats) await learnt(gateway, this.holders.map(({ id }) => id));
  }

  #start(dataFolder: string, port: number): Promise<Gateway> {
    return startGateway(this.#t, {
      plans: PLANS, dataFolder, config: { workers: 2, log: { access: false }, store: { deadline: '300ms' }, upstreams: { pets: { addresses: [this.upstream.url] } } },
      environment: { PORT: port.toString(), ...(this.#redis === null ? {} : { REDIS_URL: this.#redis.url }) },
    });
  }

  async restart(seat: Seat, signal: NodeJS.Signals): Promise<void> {
    await seat.gateway.program.stop(signal);
    const { client } = seat;
    seat.client = null;
    await client?.close();
    seat.gateway = await this.#start(seat.gateway.dataFolder, seat.port);
    seat.client = openClient(this.#t, seat.gateway.url, KEYS * EACH);
  }

  async #ask(seat: Seat, holder: Holder): Promise<void> {
    while (!this.#stopped) {
      const kind = await this.#askOnce(seat, holder);
      const count = (this.tally.get(kind) ?? 0) + 1;
      this.tally.set(kind, count);
      if (kind === 'refused' || kind === 'broken') await sleep(5);
    }
  }

  async #askOnce(seat: Seat, holder: Holder): Promise<string> {
    if (seat.client === null) return 'refused';
    try {
      const answer = await seat.client.send(holder.key);
      const kind = answer.status < 400 ? String(answer.status) : codeOf(answer);
      if ((this.tally.get(kind) ?? 0) % 300 === 0) checkHonest(this.#t, answer, kind);
      if (UNKNOWN.has(kind)) holder.unknown += 1;
      else {
        holder.admitted += 1;
        if (answer.status >= 500) holder.failed += 1;
        seat.served += 1;
      }
      return kind;
    } catch (error) {
      // Nobody listened: nothing was sent.
      if ((error as NodeJS.ErrnoException).code === 'ECONNREFUSED') return 'refused';
      holder.unknown += 1;
      return 'broken';
    }
  }

  /** Every gateway serves. */
  async serves(): Promise<void> {
    for (const seat of this.seats) {
      const before = seat.served;
      await until('the gateway serves', () => seat.served >= before + 30, 30_000);
    }
  }

  async stop(): Promise<void> {
    this.#stopped = true;
    await Promise.all(this.#askers);
  }
}

type Event = (fleet: Fleet, random: () => number) => Promise<void>;

const seatOf = ({ seats }: Fleet, random: () => number): Seat => seats[Math.floor(random() * seats.length)]!;
const holderOf = ({ holders }: Fleet, random: () => number): Holder => holders[Math.floor(random() * holders.length)]!;

const EVENTS: Readonly<Record<string, Event>> = {
  'a worker is killed': (fleet, random) => {
    const pids = childrenOf(seatOf(fleet, random).gateway.program.pid);
    const pid = pids[Math.floor(random() * pids.length)];
    if (pid !== undefined) process.kill(pid, 'SIGKILL');
    return Promise.resolve();
  },
  'a gateway is killed': (fleet, random) => fleet.restart(seatOf(fleet, random), 'SIGKILL'),
  'a gateway is told to end': (fleet, random) => fleet.restart(seatOf(fleet, random), 'SIGTERM'),
  'the settings are read again': (fleet, random) => {
    process.kill(seatOf(fleet, random).gateway.program.pid, 'SIGHUP');
    return Promise.resolve();
  },
  'a key changes its plan': async (fleet, random) => {
    await seatOf(fleet, random).gateway.admin('PATCH', `/admin/v1/keys/${holderOf(fleet, random).id}`, { plan: random() < 0.5 ? 'roomy' : 'roomier' });
  },
  'a key is rotated': async (fleet, random) => {
    const holder = holderOf(fleet, random);
    const { status, body } = await seatOf(fleet, random).gateway.admin('POST', `/admin/v1/keys/${holder.id}/rotate`, {});
    if (status < 300) holder.key = (body as { key: string }).key;
  },
  'a report is asked for': async (fleet, random) => {
    await seatOf(fleet, random).gateway.admin('GET', '/admin/v1/usage?by=key,plan,day');
  },
  'the service breaks off': async ({ upstream }) => {
    const well = upstream.handle;
    upstream.handle = (seen, response) => {
      // Not the seed's: how often it is asked is nobody's to decide.
      if (Math.random() < 0.3) response.destroy();
      else if (Math.random() < 0.3) response.writeHead(500, { 'content-type': 'application/json' }).end('{"code":"internal_error_of_pets","message":"The service behind has a fault.","status":500}');
      else well(seen, response);
    };
    await sleep(300);
    upstream.handle = well;
  },
};

/** Only with Redis. */
const OUTAGES: Readonly<Record<string, Event>> = {
  'Redis stands still': async ({ redis }, random) => {
    redis.freeze();
    await sleep(100 + random() * 1_500);
    redis.thaw();
  },
  'Redis is killed': async ({ redis }, random) => {
    await redis.kill();
    await sleep(random() * 1_500);
    await redis.restart();
  },
  'a gateway dies while Redis is away': async (fleet, random) => {
    const { redis } = fleet;
    await redis.kill();
    await sleep(random() * 1_000);
    await fleet.restart(seatOf(fleet, random), 'SIGKILL');
    await redis.restart();
  },
};

async function survive(t: Test, fleet: Fleet, gateways: number, happenings: Readonly<Record<string, Event>>): Promise<void> {
  const random = randomOf(seed);
  const names = Object.keys(happenings);
  t.teardown(() => fleet.stop());
  await fleet.open(gateways);
  for (let n = 0; n < events; n += 1) {
    const name = names[Math.floor(random() * names.length)]!;
    t.comment(`${n + 1}: ${name}`);
    await happenings[name]!(fleet, random);
    await fleet.serves();
    fleet.upstream.seen.length = 0;
  }
  await fleet.stop();
  t.comment(JSON.stringify([...fleet.tally]));
  t.notOk(fleet.tally.has('internal_error'), 'no fault of ours');
  t.notOk(fleet.tally.has('invalid_api_key'), 'a good key is never called a bad one');
}

async function checkLedger(t: Test, { holders, seats }: Fleet): Promise<void> {
  for (const { id, admitted, unknown, failed } of holders) {
    const ledger = await ledgerOf(seats[0]!.gateway, id);
    const seen = { admitted, unknown, failed, ledger };
    t.ok(ledger.requests >= admitted, 'the ledger has all that was admitted', seen);
    t.ok(ledger.requests <= admitted + unknown, 'and at most what nobody knows besides', seen);
    t.ok(ledger.failed <= failed + unknown, 'no failure is counted twice', seen);
    t.equal(ledger.limited + ledger.banned, 0, 'nobody was refused', seen);
  }
}

t.setTimeout(60_000 + events * 24_000);
const repeat = `PETGATE_CHAOS=${seed},${events}`;

t.test(`two gateways on one Redis: whatever happens, no count is lost and none is made up (${repeat})`, async (t) => {
  const redis = await startRedis({ config: ['appendonly yes', 'appendfsync always'] });
  t.teardown(() => redis.stop());
  const fleet = new Fleet(t, redis, await startUpstream(t));
  await survive(t, fleet, 2, { ...EVENTS, ...OUTAGES });
  for (const { gateway } of fleet.seats) {
    await until('Redis decides, and nothing waits', async () => (await figure(gateway, 'petgate_store_degraded')) === 0 && (await figure(gateway, 'petgate_spool_requests')) === 0, 30_000);
  }
  await checkLedger(t, fleet);
});

t.test(`the embedded store: the same (${repeat})`, async (t) => {
  const fleet = new Fleet(t, null, await startUpstream(t));
  await survive(t, fleet, 1, EVENTS);
  t.notOk(fleet.tally.has('store_unavailable'), 'the store was always there');
  await checkLedger(t, fleet);
});
