import { closeSync, openSync, readdirSync, rmSync, statSync, truncateSync, writeFileSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import type { Test } from 'tap';
import { StoreUnavailable } from '../../../../../src/gateway/admission/port.js';
import { openStores } from '../../../../../src/gateway/store/embedded/owner/stores.js';
import { engineOn, ENTRY, recordOf, requestOf, tempFolder } from '../fixture.js';

const halve = (file: string): void => truncateSync(file, statSync(file).size / 2);
const wipeHeader = (file: string): void => {
  const handle = openSync(file, 'r+');
  writeSync(handle, Buffer.alloc(2 * 4_096), 0, 2 * 4_096, 0);
  closeSync(handle);
};

/** A folder with a key and 20 requests, as a gateway leaves it. */
async function used(t: Test): Promise<{ folder: string; durable: string }> {
  const folder = tempFolder(t);
  const engine = engineOn(t, folder);
  for (let n = 0; n < 40; n += 1) await engine.keys.write(recordOf(`k${n}`, { plan: 'open' }), ENTRY);
  for (let n = 0; n < 20; n += 1) await engine.admit([requestOf('k0')]);
  await engine.close();
  return { folder, durable: join(folder, 'durable.mdb') };
}

t.test('a damaged file is not opened: the error names it, and says what is in it and what to do', async (t) => {
  for (const harm of [halve, wipeHeader]) {
    const { folder, durable } = await used(t);
    harm(durable);
    const bytes = statSync(durable).size;
    t.throws(() => engineOn(t, folder), {
      name: 'StoreUnavailable',
      message: /durable\.mdb is damaged: .* keys, customers, .*petgate store import/,
    });
    t.equal(statSync(durable).size, bytes, 'it stays as it is');
  }
});

t.test('an empty or missing file next to a journal is no new store', async (t) => {
  for (const harm of [(file: string) => writeFileSync(file, ''), (file: string) => rmSync(file)]) {
    const { folder, durable } = await used(t);
    harm(durable);
    t.throws(() => engineOn(t, folder), {
      name: 'StoreUnavailable',
      message: /durable\.mdb is (empty|missing), but journal-\d+ next to it is not: it was lost/,
    });
    t.ok(
      readdirSync(folder).some((name) => name.startsWith('journal-')),
      'what is left stays',
    );
  }
});

t.test('files of an outage say what is lost with them', async (t) => {
  const folder = join(tempFolder(t), 'failover');
  await openStores({ folder, mapBytes: 2 ** 24 }).close();
  wipeHeader(join(folder, 'durable.mdb'));
  t.throws(() => openStores({ folder, mapBytes: 2 ** 24 }), StoreUnavailable);
  t.throws(() => openStores({ folder, mapBytes: 2 ** 24 }), { message: /counts that Redis may lack/ });
});

t.test('files that are deleted while they are open: nothing is decided or changed by them any more', async (t) => {
  const folder = tempFolder(t);
  const engine = engineOn(t, folder);
  await engine.keys.write(recordOf('k', { plan: 'open' }), ENTRY);
  t.match(await engine.admit([requestOf('k')]), [{ outcome: 'admitted' }]);
  rmSync(folder, { recursive: true });
  const gone = { name: 'StoreUnavailable', message: /was deleted while the gateway ran/ };
  await t.rejects(engine.keys.write(recordOf('new', { plan: 'open' }), ENTRY), gone);
  for (let n = 0; n < 20; n += 1) await t.rejects(engine.admit([requestOf('k')]), gone);
  await t.rejects(engine.check(), gone);
  await t.rejects(engine.close(), gone);
  t.throws(() => readdirSync(folder), { code: 'ENOENT' }, 'nobody makes it again');
});
