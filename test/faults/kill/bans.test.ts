import { fork } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import t from 'tap';
import type { Test } from 'tap';
import { isAutomaticBan } from '../../../src/gateway/store/records/record.js';
import type { AdmissionEngine } from '../../../src/gateway/store/port.js';
import { keyOf, newCustomer, newKey, type Actor } from '../../conformance/cast.js';
import { openEngine, type Choice } from '../../conformance/open.js';
import { tempFolder } from '../../gateway/store/embedded/fixture.js';
import { redisFor } from '../../servers/redis.js';

const BANNING = fileURLToPath(new URL('banning.js', import.meta.url));
const KILLS = process.env['PETGATE_LONG'] === '1' ? 20 : 4;

/** A level is how many bans of a key began within a day, decided with the ban itself: the history has as many. */
async function killed(t: Test, choice: Choice): Promise<void> {
  let bans = 0;
  for (let kill = 1; kill <= KILLS; kill += 1) {
    const setup = openEngine(choice);
    const keys = [...(await keysOf(setup)), ...(await keysOf(setup))];
    await setup.close();
    await banAndKill(choice, keys, 3 * kill);
    const engine = openEngine(choice);
    for (const { id } of keys) {
      const [snapshot] = await engine.keys.snapshots(before(id), 1, '2026-01-01');
      const automatic = snapshot!.history.filter(isAutomaticBan);
      bans += automatic.length;
      if (automatic.length !== snapshot!.state.banLevel || new Set(automatic.map(untilOf)).size !== automatic.length)
        t.fail(`kill ${kill}: ${automatic.length} entries, ${snapshot!.state.banLevel} bans`, { id });
    }
    await engine.close();
  }
  t.ok(bans > 20 * KILLS, `${bans} bans`);
}

function untilOf({ changed }: { readonly changed: Readonly<Record<string, unknown>> }): unknown {
  return changed['until'];
}

async function keysOf(engine: AdmissionEngine): Promise<readonly Actor[]> {
  const { id } = await newCustomer(engine, 'strict');
  return Promise.all([newKey(engine, 'strict'), newKey(engine, 'strict'), keyOf(engine, id)]);
}

/** Kills the process within the round after so many. */
async function banAndKill(choice: Choice, keys: readonly Actor[], rounds: number): Promise<void> {
  const child = fork(BANNING, [JSON.stringify([choice, keys.map(({ subject }) => subject)])]);
  const ended = once(child, 'exit');
  child.on('message', (round) => {
    if (Number(round) >= rounds) setTimeout(() => child.kill('SIGKILL'), Math.random() * 5);
  });
  await ended;
}

/** What sorts right before an id. */
function before(id: string): string {
  return id.slice(0, -1) + String.fromCharCode(id.charCodeAt(id.length - 1) - 1) + '~';
}

t.test('embedded: of bans none is missing in the history, and none there twice', (t) =>
  killed(t, { engine: 'embedded', folder: tempFolder(t) }),
);

t.test('redis: the same', async (t) => {
  const redis = await redisFor(t);
  await killed(t, { engine: 'redis', url: redis.url });
});
