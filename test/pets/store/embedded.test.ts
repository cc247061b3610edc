import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { open } from 'lmdb';
import t from 'tap';
import { openEmbeddedStore } from '../../../src/pets/store/embedded.js';
import { storeContract } from './contract.js';

const folder = mkdtempSync(join(tmpdir(), 'petgate-pets-'));
t.teardown(() => rmSync(folder, { recursive: true, force: true }));

storeContract(t, (data) => Promise.resolve(openEmbeddedStore(join(folder, data))));

t.test('a folder is marked with its format; one of a later version is refused', async (t) => {
  const data = join(folder, 'format');
  await openEmbeddedStore(data).close();
  const root = open({ path: data, maxDbs: 3, overlappingSync: false });
  const about = root.openDB<string, string>({ name: 'about', encoding: 'string' });
  t.equal(about.get('format'), '1');
  await about.put('format', '2');
  await root.close();
  t.throws(() => openEmbeddedStore(data), /format 2, .* does not know/);
});

t.test('a file where the folder should be is an error at opening', (t) => {
  writeFileSync(join(folder, 'file'), '');
  t.throws(() => openEmbeddedStore(join(folder, 'file', 'pets')));
  t.end();
});

t.test('a damaged file is not opened, and one that was deleted acknowledges nothing', async (t) => {
  const [data, file] = [join(folder, 'lost'), join(folder, 'lost', 'data.mdb')];
  const store = openEmbeddedStore(data);
  const pet = { name: 'Rex', categoryId: 1n };
  for (let n = 0; n < 200; n += 1) await store.add(pet);
  await store.close();
  const whole = readFileSync(file);
  writeFileSync(file, whole.subarray(0, whole.length / 2));
  t.throws(() => openEmbeddedStore(data), /data\.mdb is damaged: it has \d+ bytes of \d+/);
  writeFileSync(file, Buffer.concat([Buffer.alloc(8_192), whole.subarray(8_192)]));
  t.throws(() => openEmbeddedStore(data), /data\.mdb is damaged: its header is destroyed/);
  writeFileSync(file, whole);
  const again = openEmbeddedStore(data);
  t.match(await again.read(200n), { id: 200n });
  rmSync(data, { recursive: true });
  const gone = { name: 'StoreUnavailable', message: /was deleted while pets ran/ };
  await t.rejects(again.add(pet), gone);
  await t.rejects(again.read(1n), gone);
  await t.rejects(again.close(), /was deleted/);
});
