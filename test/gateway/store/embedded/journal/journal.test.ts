import { closeSync, fstatSync, openSync, readFileSync, writeFileSync } from 'node:fs';
import t from 'tap';
import { Journal, journalFiles, journalPath } from '../../../../../src/gateway/store/embedded/journal/journal.js';
import { tempFolder } from '../fixture.js';

const line = (number: number): Buffer => Buffer.from(`record ${number}\n`);

t.test('what is appended is in the file at once; a new one begins behind those that are there', async (t) => {
  const folder = tempFolder(t);
  writeFileSync(journalPath(folder, 7), 'before');
  const journal = new Journal(folder, 40);
  t.teardown(() => journal.close());
  t.equal(journal.appended, 40);
  t.equal(await journal.sync(), 40, 'nothing is to be synced');
  journal.append(41, line(41));
  t.equal(readFileSync(journalPath(folder, 8), 'utf8'), 'record 41\n');
  journal.probe(line(0));
  t.equal(readFileSync(journalPath(folder, 8), 'utf8'), 'record 41\n', 'a probe leaves nothing');
  t.equal(journal.bytes, 'before'.length + line(41).length);
  t.equal(await journal.sync(), 41);
  const ended = journal.rotate();
  journal.append(42, line(42));
  t.strictSame([ended, journalFiles(folder)], [8, [7, 8, 9]]);
  t.equal(await journal.sync(), 42);
  journal.remove(ended);
  t.strictSame(journalFiles(folder), [9]);
  t.equal(journal.bytes, line(42).length);
});

t.test('all that was appended before is on the disk when a sync resolves, however many ask', async (t) => {
  const journal = new Journal(tempFolder(t), 0);
  t.teardown(() => journal.close());
  const synced: Promise<boolean>[] = [];
  for (let number = 1; number <= 200; number += 1) {
    journal.append(number, line(number));
    if (number % 40 === 0) journal.rotate();
    synced.push(journal.sync().then((upTo) => upTo >= number));
    if (number % 3 === 0) await synced.at(-1);
  }
  t.notOk((await Promise.all(synced)).includes(false));
});

t.test('closing during a sync closes each file once, and nothing that was opened since', async (t) => {
  const folder = tempFolder(t);
  for (let round = 1; round <= 50; round += 1) {
    const journal = new Journal(folder, 0);
    journal.append(1, line(1));
    journal.rotate();
    journal.append(2, line(2));
    const syncing = journal.sync();
    await journal.close();
    // These get the numbers of the closed files.
    const others = Array.from({ length: 4 }, () => openSync(folder, 'r'));
    await syncing;
    for (const other of others) t.ok(fstatSync(other).isDirectory());
    for (const other of others) closeSync(other);
  }
});
