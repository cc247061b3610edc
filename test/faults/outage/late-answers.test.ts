import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import t from 'tap';
import type { Test } from 'tap';
import { petgate, surroundings } from '../../cli/programs.js';
import { day, ledgerOf, type Counts } from '../../e2e/ledger.js';
import { ADMIN_TOKEN } from '../../servers/gateway.js';
import { redisFor } from '../../servers/redis.js';
import { startProxy, type StallingProxy } from '../../servers/stalling-proxy.js';
import { until } from '../../servers/until.js';
import { back, decidesAlone, EACH, starterOn, underLoad, type Scene } from '../fleet.js';

t.setTimeout(600_000);

/** Longer than a silence after which another connection is dialled. */
const HELD_MS = 3_000;

const ATTEMPTS = 5;

interface HeldScene extends Scene {
  readonly way: StallingProxy;
}

/** A gateway under load, with what holds back the answers of its Redis. */
async function sceneOf(t: Test, onFailure: 'local' | 'refuse'): Promise<HeldScene> {
  const redis = await redisFor(t);
  const way = await startProxy(redis.port);
  t.teardown(() => way.stop());
  const start = await starterOn(t, `redis://127.0.0.1:${way.port}`);
  const gateway = await start({ config: { store: { on_failure: onFailure } } });
  return { way, ...(await underLoad(t, gateway, onFailure)) };
}

type Line = Readonly<Record<string, unknown>>;

/** The lines of requests that were admitted, or may have been, and answered 503. */
async function givenUp({ gateway, load }: Scene): Promise<readonly Line[]> {
  const refused = () => gateway.program.lines().filter(({ code }) => code === 'store_unavailable');
  await until('every 503 has its line', () => refused().length === load.count('store_unavailable'));
  return refused().filter(({ counted }) => counted !== false);
}

/**
 * Holds answers back until requests are given up that Redis had been sent. On a busy machine there may be none: those
 * that wait, unsent, are refused or decided by the gateway, as is all that comes until Redis decides again.
 */
async function giveUpSome(scene: HeldScene, goOn: () => Promise<void> | void): Promise<readonly Line[]> {
  const { way, gateway, load, admitsMore } = scene;
  for (;;) {
    // Without outage mode Redis decides, or nobody does.
    if (await decidesAlone(gateway)) await back(gateway);
    const before = load.count('store_unavailable');
    way.set('hold');
    await until(
      'requests are given up',
      async () => load.count('store_unavailable') > before || (await decidesAlone(gateway)),
    );
    await goOn();
    way.set('pass');
    await admitsMore();
    if ((await givenUp(scene)).length === 0) continue;
    await load.stop();
    return givenUp(scene);
  }
}

async function reconciled({ gateway }: Scene): Promise<{ readonly code: number | string; readonly proof: unknown }> {
  const file = join(gateway.dataFolder, 'access.log');
  const lines = gateway.program.lines().map((line) => JSON.stringify(line));
  writeFileSync(file, lines.join('\n'));
  const environment = { ADMIN_PORT: new URL(gateway.adminUrl).port, PETGATE_ADMIN_TOKEN: ADMIN_TOKEN };
  for (let attempt = 1; ; attempt += 1) {
    const { code, stdout, stderr } = await petgate(
      ['usage', 'reconcile', '--day', day(Date.now()), '--access-log', file, '--json'],
      surroundings(gateway.dataFolder, environment),
    );
    if (stdout !== '') return { code, proof: JSON.parse(stdout) as unknown };
    // On a busy machine Redis may be silent for so long that it counts as unavailable.
    if (attempt === ATTEMPTS || !/unavailable|in time/.test(stderr)) throw new Error(`no proof: ${stderr}`);
  }
}

/** The ledger, once it has what clients got and `more`. */
async function settledLedger({ gateway, id, load }: Scene, more: number): Promise<Counts> {
  await until('all is in the ledger', async () => (await ledgerOf(gateway, id)).requests >= load.count('200') + more);
  return ledgerOf(gateway, id);
}

for (const onFailure of ['local', 'refuse'] as const) {
  t.test(`answers that come after their callers gave up have failed (${onFailure})`, async (t) => {
    const scene = await sceneOf(t, onFailure);
    const { load, gateway, id } = scene;
    const late = await giveUpSome(scene, () => sleep(HELD_MS));
    t.ok(late.length > 0 && late.length <= EACH, 'those that were under way', { late: late.length });
    t.match(
      late,
      late.map(() => ({ key: id, counted: true, outcome: 'admitted', code: 'store_unavailable', plan: 'roomy' })),
    );
    await until('they have failed', async () => (await ledgerOf(gateway, id)).failed >= late.length);
    const { requests, failed } = await settledLedger(scene, late.length);
    t.comment(JSON.stringify({ requests, failed, tally: [...load.tally] }));
    t.equal(requests - failed, load.count('200'), 'less what failed it is what clients got');
    t.equal(failed, late.length);
    t.match(await reconciled(scene), { code: 0, proof: { equal: true, differences: [], unanswered: [] } });
  });

  t.test(
    `where the connection dies first the access line says so, and reconcile names it (${onFailure})`,
    async (t) => {
      const scene = await sceneOf(t, onFailure);
      const { way, load, id } = scene;
      const lost = await giveUpSome(scene, () => way.set('refuse'));
      t.ok(lost.length > 0 && lost.length <= EACH, 'those that were under way', { lost: lost.length });
      t.match(
        lost,
        lost.map(() => ({ key: id, counted: null, outcome: 'none', plan: null, admittedAt: null })),
      );
      const { requests, failed } = await settledLedger(scene, lost.length);
      t.comment(JSON.stringify({ requests, failed, tally: [...load.tally] }));
      t.equal(requests, load.count('200') + lost.length, 'Redis had decided them');
      t.equal(failed, 0);
      t.match(await reconciled(scene), {
        code: 0,
        proof: {
          equal: true,
          differences: [],
          unanswered: [{ key: id, plan: 'roomy', operation: 'listPets', requests: lost.length, units: lost.length }],
        },
      });
    },
  );
}
