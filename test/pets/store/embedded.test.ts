import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import t from 'tap';
import { openEmbeddedStore } from '../../../src/pets/store/embedded.js';
import { storeContract } from './contract.js';

const folder = mkdtempSync(join(tmpdir(), 'petgate-pets-'));
t.teardown(() => rmSync(folder, { recursive: true, force: true }));

storeContract(t, (data) => Promise.resolve(openEmbeddedStore(join(folder, data))));

t.test('a file where the folder should be is an error at opening', (t) => {
  writeFileSync(join(folder, 'file'), '');
  t.throws(() => openEmbeddedStore(join(folder, 'file', 'pets')));
  t.end();
});
