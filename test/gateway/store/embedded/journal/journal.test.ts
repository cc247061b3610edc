import { writeFileSync } from 'node:fs';
import t from 'tap';
import {
  Journal,
  journalFiles,
  journalPath,
  readJournal,
} from '../../../../../src/gateway/store/embedded/journal/journal.js';
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
  t.equal(readJournal(folder, 8).toString(), 'record 41\n');
  journal.probe(line(0));
  t.equal(readJournal(folder, 8).toString(), 'record 41\n', 'a probe leaves nothing');
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
