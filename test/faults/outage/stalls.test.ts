import { setTimeout as sleep } from 'node:timers/promises';
import t from 'tap';
import type { Test } from 'tap';
import type { Gateway } from '../../servers/gateway.js';
import type { RedisServer } from '../../servers/redis.js';
import { IN_TIME_MS } from '../../servers/in-time.js';
import { until } from '../../servers/until.js';
import { away, EACH, fleetOf, underLoad, type Scene } from '../fleet.js';
import { ledgerOf } from '../../e2e/ledger.js';

const ROUNDS = 12;
/** Longer than in service: on a busy machine Redis stands still by itself. */
const DEADLINE = '2s';
/** A stall within two thirds of it is borne; a test that was itself held up makes one longer than it meant. */
const BEARABLE_MS = 1_300;
const ON_FAILURE = ['local', 'refuse'] as const;

interface RedisScene extends Scene {
  readonly redis: RedisServer;
}

async function sceneOf(t: Test, onFailure: (typeof ON_FAILURE)[number], store: object = {}): Promise<RedisScene> {
  const { redis, start } = await fleetOf(t);
  const gateway = await start({ config: { store: { on_failure: onFailure, ...store } } });
  return { redis, ...(await underLoad(t, gateway, onFailure)) };
}

/** Stops a process for so long; how long it truly was. */
async function stopFor(ms: number, stop: () => void, goOn: () => void): Promise<number> {
  const beganMs = performance.now();
  stop();
  await sleep(ms);
  goOn();
  return performance.now() - beganMs;
}

/** Stalls again and again; gives how many were bearable, and of those how many answers were lost. */
async function stallOften(
  { load, admitsMore }: Scene,
  stop: () => void,
  goOn: () => void,
): Promise<{ borne: number; refused: number }> {
  let [borne, refused] = [0, 0];
  for (let round = 0; borne < ROUNDS && round < 4 * ROUNDS; round += 1) {
    const before = load.count('store_unavailable');
    const tookMs = await stopFor(100 + (1_000 * borne) / (ROUNDS - 1), stop, goOn);
    await admitsMore();
    if (tookMs > BEARABLE_MS) continue;
    borne += 1;
    refused += load.count('store_unavailable') - before;
  }
  return { borne, refused };
}

/** Every answer was 200, and nothing but Redis decided. */
async function neverAway(t: Test, { gateway, id, load }: Scene): Promise<void> {
  await load.stop();
  t.strictSame(Object.fromEntries(load.tally), { 200: load.count('200') }, 'every answer was 200');
  t.equal((await ledgerOf(gateway, id)).requests, load.count('200'), 'the ledger is what was admitted');
  t.strictSame(saidAway(gateway), [], 'nobody said that the store is unavailable');
}

function saidAway({ program }: Gateway): readonly unknown[] {
  return program.lines().filter(({ msg }) => typeof msg === 'string' && /is unavailable/.test(msg));
}

for (const onFailure of ON_FAILURE) {
  t.test(
    `Redis stands still for two thirds of the deadline, again and again: no answer is lost (${onFailure})`,
    async (t) => {
      const scene = await sceneOf(t, onFailure, { deadline: DEADLINE });
      const { redis } = scene;
      const { borne, refused } = await stallOften(
        scene,
        () => redis.freeze(),
        () => redis.thaw(),
      );
      t.comment(JSON.stringify({ borne, refused, tally: [...scene.load.tally], away: saidAway(scene.gateway).length }));
      t.equal(borne, ROUNDS, 'there were stalls');
      t.equal(refused, 0, 'none cost an answer');
      await neverAway(t, scene);
    },
  );

  t.test(`the gateway stands still: that is no silence of Redis (${onFailure})`, async (t) => {
    const scene = await sceneOf(t, onFailure, { deadline: DEADLINE });
    const { pid } = scene.gateway.program;
    for (const ms of [1_000, 2_500, 4_000]) {
      await stopFor(
        ms,
        () => process.kill(pid, 'SIGSTOP'),
        () => process.kill(pid, 'SIGCONT'),
      );
      await scene.admitsMore();
    }
    await neverAway(t, scene);
  });

  t.test(
    `Redis dies and is back within the deadline: only what it had been asked is refused (${onFailure})`,
    async (t) => {
      // Longer than a restart takes on a busy machine.
      const scene = await sceneOf(t, onFailure, { deadline: '5s' });
      const { redis, load, gateway } = scene;
      let asked = 0;
      for (let round = 0; round < 4; round += 1) {
        asked += EACH;
        await redis.kill();
        await redis.restart();
        await scene.admitsMore();
      }
      await load.stop();
      const [admitted, refused] = [load.count('200'), load.count('store_unavailable')];
      t.equal(
        admitted + refused,
        [...load.tally.values()].reduce((sum, each) => sum + each, 0),
        'nothing else was said',
      );
      t.ok(refused <= asked, 'refused were only those under way', { refused, asked });
      const { requests } = await ledgerOf(gateway, scene.id);
      t.ok(requests >= admitted && requests <= admitted + refused, 'the ledger has what was admitted', {
        requests,
        admitted,
        refused,
      });
      t.strictSame(saidAway(gateway), [], 'nobody said that the store is unavailable');
    },
  );
}

t.test('Redis freezes for good: requests wait for it a moment, then the gateway decides', async (t) => {
  const scene = await sceneOf(t, 'local');
  const { redis, load, gateway, id } = scene;
  redis.freeze();
  await away(gateway);
  await scene.admitsMore();
  redis.thaw();
  await gateway.program.logged('Redis decides again; what was counted here is in its ledger');
  await load.stop();
  const [admitted, refused] = [load.count('200'), load.count('store_unavailable')];
  t.ok(refused <= EACH, 'refused were only those that Redis may have decided', { refused });
  const took = gateway.program
    .lines()
    .map(({ admissionMs }) => Number(admissionMs))
    .filter((ms) => ms > 0);
  t.ok(took.length > 100 && Math.max(...took) < IN_TIME_MS, 'by its own measure', { slowestMs: Math.max(...took) });
  await until('all is in the ledger', async () => (await ledgerOf(gateway, id)).requests >= admitted);
  const { requests } = await ledgerOf(gateway, id);
  t.ok(requests <= admitted + refused, 'the ledger has what was admitted, and none that was not asked', {
    requests,
    admitted,
    refused,
  });
});
