import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
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
