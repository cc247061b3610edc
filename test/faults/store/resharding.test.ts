import t from 'tap';
import type { Test } from 'tap';
import { setTimeout as sleep } from 'node:timers/promises';
import { openFailoverEngine } from '../../../src/gateway/store/outage/engine.js';
import { openRedisEngine, type RedisEngine } from '../../../src/gateway/store/redis/engine.js';
import { slotOf } from '../../../src/gateway/store/redis/keyspace/slot.js';
import { StoreUnavailable } from '../../../src/gateway/admission/port.js';
import {
  ask,
  change,
  custom,
  dayName,
  freshId,
  newKey,
  NOON_MS,
  PLANS,
  rowsOf,
  startBan,
} from '../../conformance/cast.js';
import type { Actor } from '../../conformance/cast.js';
import { startCluster, type RedisCluster, type RedisServer } from '../../servers/redis.js';
import { moveName, moveSlot, openMove, reshard } from '../../servers/slots.js';
import { until } from '../../servers/until.js';

const ENGINES = 3;
/** Long: what is refused because the machine is busy is of no interest here. */
const DEADLINE_MS = 5_000;
const LIMIT = 400;
/** Slots 0 to this: all of the first master's, so that redis-cli takes them first. */
const SLOTS = 3;

interface Tally {
  admitted: number;
  refused: number;
  /** Not good, though it is. */
  unknown: number;
  /** Nothing happened, as the store says. */
  notSent: number;
  /** Nobody knows. */
  unanswered: number;
}

interface Stage {
  readonly cluster: RedisCluster;
  readonly engines: readonly RedisEngine[];
}

async function setUp(t: Test): Promise<Stage> {
  const cluster = await startCluster();
  const engines = Array.from({ length: ENGINES }, () =>
    openRedisEngine({ url: cluster.url, deadlineMs: DEADLINE_MS, plans: PLANS, usageDays: 400 }),
  );
  t.teardown(async () => {
    await Promise.all(engines.map((engine) => engine.close()));
    await cluster.stop();
  });
  for (const engine of engines) await until('it decides', async () => (await engine.check(), true));
  return { cluster, engines };
}

function idIn(slot: number): string {
  for (;;) {
    const id = freshId();
    if (slotOf(`{${id}}`) === slot) return id;
  }
}

/** Again until it is done: a step that certainly wasn't is refused while its names lie on two nodes. */
async function insist<T>(step: () => Promise<T>): Promise<T> {
  for (;;) {
    try {
      return await step();
    } catch (error) {
      if (!(error instanceof StoreUnavailable) || !error.noEffect) throw error;
    }
  }
}

/** How many calls the node redirected with MOVED since its start. */
async function redirectionsOf(node: RedisServer): Promise<number> {
  const [, count] = /errorstat_MOVED:count=(\d+)/.exec(String(await node.command('INFO', 'errorstats'))) ?? [];
  return Number(count ?? 0);
}

/** Asks with all keys on all engines, until `meanwhile` is over. */
async function traffic(
  engines: readonly RedisEngine[],
  keys: readonly Actor[],
  meanwhile: (answers: (count: number) => Promise<void>) => Promise<void>,
): Promise<ReadonlyMap<Actor, Tally>> {
  const tallies = new Map(
    keys.map((key): [Actor, Tally] => [key, { admitted: 0, refused: 0, unknown: 0, notSent: 0, unanswered: 0 }]),
  );
  let over = false;
  let asked = 0;
  const loop = async (engine: RedisEngine, key: Actor, tally: Tally): Promise<void> => {
    while (!over) {
      try {
        const { outcome } = await ask(engine, key, NOON_MS);
        tally[outcome === 'admitted' ? 'admitted' : outcome === 'unknown_key' ? 'unknown' : 'refused'] += 1;
      } catch (error) {
        if (!(error instanceof StoreUnavailable)) throw error;
        tally[error.notSent.length > 0 ? 'notSent' : 'unanswered'] += 1;
      }
      asked += 1;
      await sleep(1);
    }
  };
  const loops = Promise.all(engines.flatMap((engine) => [...tallies].map(([key, tally]) => loop(engine, key, tally))));
  const answers = async (count: number): Promise<void> => {
    const before = asked;
    await until(`${count} more were answered`, () => asked >= before + count);
  };
  await meanwhile(answers).finally(() => (over = true));
  await loops;
  return tallies;
}

/** What must hold of every key, whatever moved. */
async function settled(t: Test, engine: RedisEngine, tallies: ReadonlyMap<Actor, Tally>): Promise<void> {
  for (const [key, tally] of tallies) {
    const rows = await rowsOf(engine, dayName(NOON_MS), dayName(NOON_MS), key.id);
    const requests = rows.reduce((sum, row) => sum + row.requests, 0);
    const refused = rows.reduce((sum, row) => sum + row.limited + row.banned, 0);
    const found = JSON.stringify({ ...tally, ledger: { requests, refused } });
    t.equal(tally.unknown, 0, `the key is valid: ${found}`);
    t.ok(tally.admitted > 0 && tally.admitted <= LIMIT && requests <= LIMIT, `never over the limit: ${found}`);
    const missing = requests + refused - tally.admitted - tally.refused;
    t.ok(missing >= 0 && missing <= tally.unanswered, `the ledger has what was answered: ${found}`);
    t.ok(requests >= tally.admitted, 'each admission among it');
  }
}

t.setTimeout(600_000);
t.test('slots of active keys move there and back name by name, while keys are made and changed', async (t) => {
  const { cluster, engines } = await setUp(t);
  const [first, second] = cluster.masters;
  const [one, other] = engines;
  const keys: Actor[] = [];
  for (let slot = 0; slot < SLOTS; slot += 1)
    keys.push(await newKey(one!, 'enterprise', { id: idIn(slot), ...custom('unlimited', LIMIT) }));
  for (const key of keys) await ask(one!, key, NOON_MS, { cost: 0 });
  const tallies = await traffic(engines, keys, async (answers) => {
    await answers(50);
    for (const [from, to] of [
      [first!, second!],
      [second!, first!],
    ] as const) {
      for (let slot = 0; slot < SLOTS; slot += 1) {
        const changed = await newKey(one!, 'open', { id: idIn(slot) });
        const revoked = await newKey(one!, 'open', { id: idIn(slot) });
        for (const key of [changed, revoked]) await ask(one!, key, NOON_MS);
        let changes = Promise.resolve();
        let isChanging = false;
        const begin = (): void => {
          if (isChanging) return;
          isChanging = true;
          changes = (async () => {
            await insist(() => change(one!, changed, { note: 'moves' }));
            await insist(() => change(other!, changed, { secrets: [{ hash: 'rotated', endsAtMs: null }] }));
            await insist(() => startBan(one!, changed, NOON_MS + 1_000));
            await insist(() => change(other!, revoked, { status: 'revoked' }));
            await insist(() => newKey(one!, 'open', { id: idIn(slot) }));
          })();
          changes.catch(() => undefined);
        };
        const moved = await moveSlot(cluster.masters, slot, from, to, async () => {
          begin();
          await answers(20);
        });
        t.ok(moved >= 3, `slot ${slot}: ${moved} names moved`);
        await changes;
        for (const engine of engines) {
          t.match(await insist(() => ask(engine, revoked, NOON_MS)), { outcome: 'unknown_key', reason: 'revoked' });
          t.match(await insist(() => ask(engine, { kind: 'key', id: changed.id, secretHash: 'rotated' }, NOON_MS)), {
            outcome: 'banned',
          });
        }
      }
    }
  });
  await settled(t, one!, tallies);
});

t.test('redis-cli reshards under traffic, there and back', async (t) => {
  const { cluster, engines } = await setUp(t);
  const [first, second] = cluster.masters;
  const keys: Actor[] = [];
  for (let slot = 0; slot < 2 * SLOTS; slot += 1)
    keys.push(await newKey(engines[0]!, 'enterprise', { id: idIn(slot), ...custom('unlimited', LIMIT) }));
  const tallies = await traffic(engines, keys, async (answers) => {
    await answers(50);
    for (let round = 0; round < 3; round += 1) {
      await reshard(cluster.masters, first!, second!, 2 * SLOTS);
      await answers(100);
      await reshard(cluster.masters, second!, first!, 2 * SLOTS);
      await answers(100);
    }
  });
  await settled(t, engines[0]!, tallies);
});

t.test('masters that both redirect a slot to each other are asked 100 times a second at most', async (t) => {
  const slot = 5;
  const id = idIn(slot);
  const { cluster, engines } = await setUp(t);
  const [first, second] = cluster.masters;
  const secondId = String(await second!.command('CLUSTER', 'MYID'));
  await first!.command('CLUSTER', 'SETSLOT', slot, 'NODE', secondId);
  await t.rejects(ask(engines[0]!, { kind: 'key', id, secretHash: 'none' }, NOON_MS), {
    name: 'StoreUnavailable',
    message: /MOVED/,
  });
  const redirected = await Promise.all([first!, second!].map(redirectionsOf));
  t.ok(Math.max(...redirected) > 10, `it was repeated: ${redirected.join(', ')}`);
  t.ok(Math.max(...redirected) <= DEADLINE_MS / 10, `with pauses: ${redirected.join(', ')}`);
});

t.test(
  'a slot that stays half moved: unknown keys are told so, and nothing there begins the outage mode',
  async (t) => {
    const slot = 7;
    // Found before there are connections: it takes long enough to lose them.
    const [movedId, stayedId, freshKeyId, newId, ...strangerIds] = Array.from({ length: 12 }, () => idIn(slot));
    const { cluster, engines } = await setUp(t);
    const [first, second] = cluster.masters;
    const redis = engines[0]!;
    const gateway = openFailoverEngine({
      redis,
      folder: t.testdir(),
      mapBytes: 16 * 1_048_576,
      plans: PLANS,
      gateways: 1,
      deadlineMs: DEADLINE_MS,
      maintains: false,
    });
    t.teardown(() => gateway.close());
    let outages = 0;
    redis.watch(() => (outages += redis.unavailable === null ? 0 : 1));
    const [moved, stayed, fresh] = [
      await newKey(redis, 'open', { id: movedId! }),
      await newKey(redis, 'open', { id: stayedId! }),
      await newKey(redis, 'open', { id: freshKeyId! }),
    ];
    for (const key of [moved, stayed]) t.equal((await ask(redis, key, NOON_MS)).outcome, 'admitted');
    await openMove(slot, first!, second!);
    const names = (await first!.command('CLUSTER', 'GETKEYSINSLOT', slot, 100)) as string[];
    for (const name of names.filter((each) => each.includes(`{${moved.id}}`))) await moveName(name, first!, second!);

    const waiting = Promise.allSettled([ask(gateway, fresh, NOON_MS), newKey(redis, 'open', { id: newId! })]);
    const strangers = strangerIds.map((id) => ({ kind: 'key', id, secretHash: 'none' }) as const);
    for (let round = 0; round < 20; round += 1) {
      const batch = [...strangers, moved.subject, stayed.subject].map((subject) => ({
        subject,
        operation: 'listPets',
        scope: null,
        cost: 1 as const,
        nowMs: NOON_MS,
      }));
      const verdicts = await gateway.admit(batch);
      t.same(
        verdicts.map(({ outcome }) => outcome),
        [...strangers.map(() => 'unknown_key'), 'admitted', 'admitted'],
      );
    }
    const [admission, creation] = await waiting;
    t.match(
      admission,
      {
        status: 'rejected',
        reason: { name: 'StoreUnavailable', message: /being moved to another node/, notSent: [0] },
      },
      'its first request of the day: nothing was done',
    );
    t.match(
      creation,
      {
        status: 'rejected',
        reason: { name: 'StoreUnavailable', message: /being moved to another node/, noEffect: true },
      },
      'a new key: nothing was done',
    );
    t.equal(gateway.failover.degraded(), null);
    t.equal(outages, 0);
  },
);
