import { fork, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import t from 'tap';
import type { Test } from 'tap';
import { engineOn, ENTRY, recordOf, requestOf, requestsOf, tempFolder } from './fixture.js';
import { byName } from '../../admission/verdict.js';

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

t.test('kill -9 again and again, in the midst of folds: all that was answered is in the ledger', async (t) => {
  const folder = tempFolder(t);
  const setup = engineOn(t, folder);
  await setup.keys.write(recordOf('k', { plan: 'open' }), ENTRY);
  await setup.close();
  const batch = 8;
  let told = 0;
  const kills = process.env['PETGATE_LONG'] === '1' ? 20 : 5;
  for (let kill = 1; kill <= kills; kill += 1) {
    const child = await started(t, folder);
    child.on('message', (message: { admitted?: number }) => (told += message.admitted ?? 0));
    child.send({ load: batch });
    const enough = told + 300 * kill;
    while (told < enough) await once(child, 'message');
    child.kill('SIGKILL');
    // Its last messages are read before `close`.
    await once(child, 'close');
  }
  const ledger = await requestsOf(engineOn(t, folder), 'k');
  t.ok(ledger >= told, `ledger ${ledger} >= told ${told}`);
  t.ok(ledger <= told + kills * 64 * batch, `ledger ${ledger} <= told ${told} + what was in flight`);
});

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
