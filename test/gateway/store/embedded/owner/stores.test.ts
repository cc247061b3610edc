import { closeSync, openSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { createLog } from '../../../../../src/shared/log.js';
import { until } from '../../../../servers/until.js';
import { engineOn, ENTRY, partsOn, PLANS, recordOf, requestOf, requestsOf, tempFolder } from '../fixture.js';
import type { EmbeddedEngine } from '../../../../../src/gateway/store/embedded/engine.js';

async function admit(engine: EmbeddedEngine, times: number): Promise<number> {
  let admitted = 0;
  for (let n = 0; n < times; n += 1) {
    const verdicts = await engine.admit([requestOf('k')]).catch(() => []);
    if (verdicts[0]?.outcome === 'admitted') admitted += 1;
  }
  return admitted;
}

t.test('a file that fails is opened anew, and nothing acknowledged is missing', async (t) => {
  const { engine, stores } = partsOn(t, tempFolder(t), PLANS, 400);
  await engine.keys.write(recordOf('k', { plan: 'open' }), ENTRY);
  let admitted = await admit(engine, 20);
  stores.reopen('MDB_CORRUPTED');
  await t.rejects(engine.admit([requestOf('k')]), { name: 'StoreUnavailable', message: /reopened/ });
  await until('it serves', () => engine.check().then(() => true));
  t.equal(engine.reopenings?.(), 1);
  admitted += await admit(engine, 20);
  t.equal(admitted, 40);
  t.equal(await requestsOf(engine, 'k'), 40);
  t.same((await engine.outbox.list('waiting', null, 1)).entries, [], 'and the outbox lists from it');
});

t.test('a file that can be read no more while it is open: what was decided is counted once it can', async (t) => {
  const folder = tempFolder(t);
  const engine = engineOn(t, folder, { log: createLog('gateway', 'silent') });
  await engine.keys.write(recordOf('k', { plan: 'open' }), ENTRY);
  t.equal(await admit(engine, 20), 20);
  const file = openSync(join(folder, 'durable.mdb'), 'r+');
  // Its first page of rows, and not the two heads.
  writeSync(file, Buffer.alloc(4_096, 0xa5), 0, 4_096, 2 * 4_096);
  closeSync(file);
  t.equal(await admit(engine, 20), 20, 'memory decides');
  t.match(await engine.admit([requestOf('k')]), [{ outcome: 'admitted' }]);
});

t.test('a batch that cannot be written leaves no lease', async (t) => {
  const plans = new Map([...PLANS, ['single', { ...PLANS.get('open')!, name: 'single', concurrency: 1 }]]);
  const { engine, stores } = partsOn(t, tempFolder(t), plans, 400);
  await engine.keys.write(recordOf('k', { plan: 'single' }), ENTRY);
  const append = stores.journal.append.bind(stores.journal);
  stores.journal.append = () => {
    throw Object.assign(new Error('no space left on device'), { code: 'ENOSPC', syscall: 'write' });
  };
  await t.rejects(engine.admit([requestOf('k')]), { name: 'StoreUnavailable' });
  stores.journal.append = append;
  t.match(await engine.admit([requestOf('k'), requestOf('k')]), [
    { outcome: 'admitted', lease: Number },
    { outcome: 'limited', violated: 'concurrency' },
  ]);
});

t.test('a batch that cannot be written is not decided: what others spent stays as it was', async (t) => {
  const { engine, stores } = partsOn(t, tempFolder(t), PLANS, 400);
  await engine.keys.write(recordOf('k', { plan: 'open' }), ENTRY);
  t.equal(await admit(engine, 20), 20);
  const append = stores.journal.append.bind(stores.journal);
  stores.journal.append = () => {
    throw Object.assign(new Error('no space left on device'), { code: 'ENOSPC', syscall: 'write' });
  };
  await t.rejects(engine.admit([requestOf('k'), requestOf('k')]), {
    name: 'StoreUnavailable',
    message: /The disk that holds .* is full or failing/,
  });
  stores.journal.append = append;
  t.equal(await admit(engine, 1), 1);
  t.equal(await requestsOf(engine, 'k'), 21);
});
