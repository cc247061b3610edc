import { fork, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import t from 'tap';
import type { Test } from 'tap';
import { copyOf, engineOn, ENTRY, ledgerOf, NOON_MS, recordOf, requestOf, requestsOf, tempFolder } from './fixture.js';
import { byName } from '../../admission/verdict.js';

t.setTimeout(600_000);

const script = fileURLToPath(new URL('process.js', import.meta.url));

async function started(t: Test, folder: string): Promise<ChildProcess> {
  const child = fork(script, [folder]);
  t.teardown(() => child.kill('SIGKILL'));
  await once(child, 'message');
  return child;
}

async function admittedBy(child: ChildProcess, order: object): Promise<number> {
  child.send(order);
  const [told] = (await once(child, 'message')) as [{ readonly admitted: number }];
  return told.admitted;
}

t.test('of two processes the second is refused, with the pid of the first, until that is gone', async (t) => {
  const folder = tempFolder(t);
  const owner = await started(t, folder);
  const refusal = new RegExp(`^process ${owner.pid} on .* has .* open, and only one process may`);
  t.throws(() => engineOn(t, folder), { name: 'StoreUnavailable', message: refusal });
  t.equal(await admittedBy(owner, { admit: 4, batch: 4 }), 0, 'and the first goes on');
  owner.kill('SIGKILL');
  await once(owner, 'close');
  t.match(await engineOn(t, folder).admit([requestOf('k')]), [{ outcome: 'unknown_key' }]);
});

/** What a process was doing when it was killed. */
const PHASES = ['append', 'replay', 'sync', 'replay', 'fold', 'end of a fold', 'report', 'export'];
/** Each time at another place. PETGATE_LONG=1 takes more. */
const KILLS = process.env['PETGATE_LONG'] === '1' ? 20 : 2;
/** What one process may have counted and not told: the batch that it died in, and the one before. */
const UNTOLD = 16;

t.test(`kill -9 within ${PHASES.join(', ')}: all that was answered is counted and spent, once`, async (t) => {
  const folder = tempFolder(t);
  const setup = engineOn(t, folder);
  await setup.keys.write(recordOf('k', { plan: 'open' }), ENTRY);
  for (let n = 0; n < 30; n += 1) await setup.keys.write(recordOf(`other-${n}`), ENTRY);
  await setup.close();
  let [told, untold] = [0, 0];
  for (const phase of PHASES) {
    for (let kill = 1; kill <= KILLS; kill += 1) {
      told += await killedIn(t, folder, phase, 1 + (kill % (phase === 'replay' ? 2 : 4)));
      untold += UNTOLD;
      // The journal stays as it is, for the next process.
      const engine = engineOn(t, copyOf(t, folder));
      const counted = (await ledgerOf(engine, 'k'))[0]?.requests ?? 0;
      t.ok(counted >= told && counted <= told + untold, `${phase} ${kill}: ${counted} counted, ${told} told`);
      const [verdict] = await engine.admit([requestOf('k', { nowMs: NOON_MS, cost: 0 })]);
      t.equal(1_000_000 - byName(verdict).windows['minute']!.remaining, counted, 'as many are spent');
      await engine.close();
    }
  }
});

/** How many admissions it told before it died. */
async function killedIn(t: Test, folder: string, phase: string, at: number): Promise<number> {
  const child = fork(fileURLToPath(new URL('killed-in.js', import.meta.url)), [folder, phase, String(at)]);
  t.teardown(() => child.kill('SIGKILL'));
  let told = 0;
  child.on('message', (message: { readonly admitted: number }) => (told += message.admitted));
  // Its last messages are read before `close`.
  const [code, signal] = (await once(child, 'close')) as [number | null, string | null];
  t.same([code, signal], [null, 'SIGKILL'], `it died in ${phase}`);
  return told;
}

t.test('after kill -9 of the only process nothing is lost', async (t) => {
  const folder = tempFolder(t);
  const setup = engineOn(t, folder);
  await setup.keys.write(recordOf('k'), ENTRY);
  await setup.close();
  const child = await started(t, folder);
  t.equal(await admittedBy(child, { admit: 40, batch: 1 }), 40);
  child.kill('SIGKILL');
  await once(child, 'close');
  const engine = engineOn(t, folder);
  const [verdict] = await engine.admit([requestOf('k')]);
  t.match(byName(verdict), { outcome: 'admitted', windows: { minute: { remaining: 19 } } });
  t.equal(await requestsOf(engine, 'k'), 41);
});
