import t from 'tap';
import type { Test } from 'tap';
import { openRedisEngine } from '../../../src/gateway/store/redis/engine.js';
import { slotOf } from '../../../src/gateway/store/redis/keyspace/slot.js';
import { StoreUnavailable } from '../../../src/gateway/admission/port.js';
import type { AdmissionEngine } from '../../../src/gateway/store/port.js';
import { ask, newKey, PLANS, rowsOf, standing, type Actor } from '../../conformance/cast.js';
import { startCluster } from '../../servers/redis.js';
import { IN_TIME_MS } from '../../servers/in-time.js';
import { until } from '../../servers/until.js';
import { windowOf } from '../../gateway/admission/verdict.js';

/** Long enough for a set-up on a busy machine. */
const DEADLINE_MS = 1_000;
const BOUNDS = [5_461, 10_923, 16_384];

/** The master of a key, by its place. */
function masterOf(key: Actor): number {
  return BOUNDS.findIndex((bound) => slotOf(`{${key.id}}`) < bound);
}

/** A Cluster, and an engine that reached it. */
async function startDeciding(
  t: Test,
): Promise<{ cluster: Awaited<ReturnType<typeof startCluster>>; engine: AdmissionEngine }> {
  const cluster = await startCluster({ config: ['appendonly yes', 'appendfsync always'] });
  const engine = openRedisEngine({ url: cluster.url, deadlineMs: DEADLINE_MS, plans: PLANS, usageDays: 400 });
  t.teardown(async () => {
    await engine.close();
    await cluster.stop();
  });
  await until('the engine decides', async () => (await engine.check(), true));
  return { cluster, engine };
}

t.test(
  'one master freezes: its keys are refused, all others are decided, and nothing is charged behind our back',
  async (t) => {
    const { cluster, engine } = await startDeciding(t);
    const keys: Actor[] = [];
    // The first call for a node waits for its probe; a busy machine may need another try.
    while (keys.length < 30) keys.push(await newKey(engine, 'free'));
    const batch = keys.map((key) => ({ subject: key.subject, operation: 'listPets', scope: null, cost: 1 as const }));
    t.ok((await engine.admit(batch)).every((verdict) => verdict.outcome === 'admitted'));

    cluster.masters[0]!.freeze();
    for (const round of [1, 2, 3]) {
      const startMs = performance.now();
      const error = await engine.admit(batch).catch((reason: unknown) => reason);
      const tookMs = performance.now() - startMs;
      t.ok(error instanceof StoreUnavailable);
      const { decided } = error as StoreUnavailable;
      t.same(
        keys.map((_, place) => decided[place]?.outcome),
        keys.map((key) => (masterOf(key) === 0 ? undefined : 'admitted')),
        `round ${round}`,
      );
      t.ok(tookMs < IN_TIME_MS, `after ${tookMs.toFixed(1)} ms`);
    }
    await t.rejects(engine.check(), { name: 'StoreUnavailable' }, 'the check says so');

    cluster.masters[0]!.thaw();
    await until(
      'all nodes decide',
      async () => (
        await engine.check(),
        (await engine.admit(batch.map((each) => ({ ...each, cost: 0 as const })))).length === keys.length
      ),
    );
    const today = new Date().toISOString().slice(0, 10);
    for (const key of keys) {
      const spent = masterOf(key) === 0 ? 1 : 4;
      t.equal(windowOf(standing(await ask(engine, key, Date.now(), { cost: 0 })), 'minute').remaining, 60 - spent);
      t.equal((await rowsOf(engine, today, today, key.id))[0]?.requests, spent);
    }
  },
);

t.test('one master dies and comes back', async (t) => {
  const { cluster, engine } = await startDeciding(t);
  const keys: Actor[] = [];
  while (keys.length < 12) keys.push(await newKey(engine, 'free'));
  const mine = keys.find((key) => masterOf(key) === 1) ?? (await newKey(engine, 'free'));
  await cluster.masters[1]!.kill();
  const startMs = performance.now();
  for (let n = 0; n < 50; n += 1) await t.rejects(ask(engine, mine, Date.now()), { name: 'StoreUnavailable' });
  t.ok(performance.now() - startMs < 40 * DEADLINE_MS, 'fifty refusals do not wait for a deadline each');
  t.equal(
    (
      await ask(
        engine,
        keys.find((key) => masterOf(key) !== 1)!,
        Date.now(),
      )
    ).outcome,
    'admitted',
  );
  await cluster.masters[1]!.restart();
  await until('its keys are judged again', async () => (await ask(engine, mine, Date.now())).outcome === 'admitted');
});

t.test('the whole Cluster dies and comes back', async (t) => {
  const { cluster, engine } = await startDeciding(t);
  await newKey(engine, 'free');
  await Promise.all(cluster.masters.map((master) => master.kill()));
  for (let n = 0; n < 200; n += 1) {
    const startMs = performance.now();
    await t.rejects(engine.check(), { name: 'StoreUnavailable' });
    if (performance.now() - startMs > IN_TIME_MS) t.fail('a refusal took too long');
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
  await Promise.all(cluster.masters.map((master) => master.restart()));
  await until(
    'the engine decides again',
    async () => (
      await engine.check(),
      (await ask(engine, await newKey(engine, 'free'), Date.now())).outcome === 'admitted'
    ),
  );
});
