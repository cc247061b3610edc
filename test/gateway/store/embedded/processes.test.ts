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

t.test('400 concurrent admissions in four processes on a free key: exactly 60', async (t) => {
  const folder = tempFolder(t);
  const engine = engineOn(t, folder);
  await engine.keys.write(recordOf('k'), ENTRY);
  const children = await Promise.all(Array.from({ length: 4 }, () => started(t, folder)));
  const admitted = await Promise.all(children.map((child) => admittedBy(child, { admit: 100, batch: 4 })));
  t.equal(
    admitted.reduce((sum, one) => sum + one, 0),
    60,
  );
  t.equal(await requestsOf(engine, 'k'), 60);
});

t.test('what one process changes of a key holds in the next admission of another', async (t) => {
  const folder = tempFolder(t);
  const engine = engineOn(t, folder);
  await engine.keys.write(recordOf('k'), ENTRY);
  const child = await started(t, folder);
  const four = { admit: 4, batch: 4 };
  t.equal(await admittedBy(child, four), 4);
  for (let version = 2; version <= 9; version += 1) {
    const status = version % 2 === 0 ? 'disabled' : 'enabled';
    await engine.keys.write(recordOf('k', { status, version }), { ...ENTRY, action: 'changed' });
    t.equal(await admittedBy(child, four), status === 'enabled' ? 4 : 0, `version ${version}: ${status}`);
  }
  await engine.bans.start('k', Date.now() + 60_000);
  t.equal(await admittedBy(child, four), 0, 'banned');
});

t.test('kill -9 in the middle: all that was answered is in the ledger, and the others go on', async (t) => {
  const folder = tempFolder(t);
  const engine = engineOn(t, folder);
  await engine.keys.write(recordOf('k', { plan: 'open' }), ENTRY);
  const batch = 8;
  const children = await Promise.all(Array.from({ length: 3 }, () => started(t, folder)));
  let told = 0;
  for (const child of children) child.on('message', (message: { admitted: number }) => (told += message.admitted));
  for (const child of children) child.send({ load: batch });
  for (const [index, child] of children.entries()) {
    const enough = told + 2_000 * (index + 1);
    while (told < enough) await once(child, 'message');
    child.kill('SIGKILL');
    // Its last messages are read before `close`.
    await once(child, 'close');
    t.equal((await engine.admit([requestOf('k')]))[0]?.outcome, 'admitted', 'a survivor still decides');
    told += 1;
  }
  const ledger = await requestsOf(engine, 'k');
  t.ok(ledger >= told, `ledger ${ledger} >= told ${told}`);
  // A killed process can have committed one batch that it did not come to tell, and some messages die in the pipe.
  t.ok(ledger <= told + 3 * 64 * batch, `ledger ${ledger} <= told ${told} + what was in flight`);
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
