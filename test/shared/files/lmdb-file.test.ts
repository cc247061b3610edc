import { copyFileSync, closeSync, openSync, statSync, truncateSync, writeFileSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import { open } from 'lmdb';
import t from 'tap';
import { lmdbFileState } from '../../../src/shared/files/lmdb-file.js';
import { tempFolder } from '../../gateway/store/embedded/fixture.js';

const PAGE_BYTES = 4_096;

/** A file with branches, leaves and long values. */
async function filled(folder: string): Promise<string> {
  const file = join(folder, 'filled.mdb');
  const store = open<Buffer, string>(file, { encoding: 'binary', overlappingSync: false });
  for (let n = 0; n < 400; n += 1)
    store.transactionSync(() => {
      for (let m = 0; m < 10; m += 1) store.putSync(`row ${n} ${m}`, Buffer.alloc(m === 0 ? 9_000 : 200, n));
    });
  await store.close();
  return file;
}

t.test('a file is looked at before it is mapped: its header, and whether all pages in use are there', async (t) => {
  const folder = tempFolder(t);
  const file = await filled(folder);
  t.strictSame(lmdbFileState(file), { damage: null, rows: 4_000 });
  t.equal(lmdbFileState(join(folder, 'absent.mdb')), undefined);
  const copy = join(folder, 'copy.mdb');
  writeFileSync(copy, '');
  t.strictSame(lmdbFileState(copy), { damage: null, rows: 0 });
  const { size } = statSync(file);
  for (const bytes of [size / 2, size - PAGE_BYTES * 50, 3 * PAGE_BYTES, PAGE_BYTES, 100]) {
    copyFileSync(file, copy);
    truncateSync(copy, bytes);
    t.match(lmdbFileState(copy)?.damage, /header is destroyed|bytes of \d+/, `${bytes} of ${size} bytes`);
  }
  for (const at of [0, PAGE_BYTES]) {
    copyFileSync(file, copy);
    const handle = openSync(copy, 'r+');
    writeSync(handle, Buffer.alloc(PAGE_BYTES), 0, PAGE_BYTES, at);
    closeSync(handle);
    t.equal(lmdbFileState(copy)?.damage, 'its header is destroyed');
  }
});

t.test('a file may be shorter than its header says, where the last pages are free', async (t) => {
  const folder = tempFolder(t);
  const file = await filled(folder);
  const { size } = statSync(file);
  // As lmdb leaves it when the last pages were taken and given back in one transaction.
  const handle = openSync(file, 'r+');
  const last = Buffer.alloc(8);
  last.writeBigUInt64LE(BigInt(size / PAGE_BYTES + 40));
  for (const at of [0, PAGE_BYTES]) writeSync(handle, last, 0, 8, at + 144);
  closeSync(handle);
  t.strictSame(lmdbFileState(file), { damage: null, rows: 4_000 });
});
