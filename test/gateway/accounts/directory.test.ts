import t from 'tap';
import { Directory, type Listed } from '../../../src/gateway/accounts/directory.js';
import { until } from '../../servers/until.js';

const listed = (id: string, createdAtMs: number, name = id): Listed => ({ id, createdAtMs, name });

t.test('a record written while the directory is read is in it, as it was written last', async (t) => {
  const stored = [listed('a', 1), listed('b', 2)];
  let release = (): void => undefined;
  const held = new Promise<void>((resolve) => (release = resolve));
  const directory = new Directory(async () => (await held, stored));
  const first = directory.entries();
  directory.note(listed('b', 2, 'renamed'));
  directory.note(listed('c', 3));
  release();
  t.same(
    (await first).map(({ id, text }) => [id, text.split('\n')[0]]),
    [
      ['c', 'c'],
      ['b', 'renamed'],
      ['a', 'a'],
    ],
  );
});

t.test('a refresh that fails leaves what was read, and one that follows replaces it', async (t) => {
  let [fails, stored, nowMs] = [false, [listed('a', 1)], 0];
  const read = () => (fails ? Promise.reject(new Error('unavailable')) : Promise.resolve(stored));
  const directory = new Directory(read, () => nowMs);
  t.equal((await directory.entries()).length, 1);
  stored = [listed('a', 1), listed('b', 2)];
  t.equal((await directory.entries()).length, 1, 'young enough');
  [fails, nowMs] = [true, 6_000];
  t.equal((await directory.entries()).length, 1);
  fails = false;
  await until('it is read again', async () => (await directory.entries()).length === 2);
  fails = true;
  directory.forget();
  await t.rejects(directory.entries(), { message: 'unavailable' }, 'without anything to show, it says why');
});

t.test('an import during a read is in what that read answers, and in every list after it', async (t) => {
  let stored = [listed('a', 1)];
  const reads: (() => void)[] = [];
  const directory = new Directory(async () => {
    const read = stored;
    await new Promise<void>((resolve) => reads.push(resolve));
    return read;
  });
  const first = directory.entries();
  stored = [listed('a', 1), listed('b', 2)];
  directory.forget();
  const second = directory.entries();
  await until('both read', () => reads.length === 2);
  for (const release of reads) release();
  for (const entries of [await first, await second, await directory.entries()]) t.equal(entries.length, 2);
});

t.test('writes between two lists are bounded, and all of them listed', async (t) => {
  const stored = [listed('a', 1)];
  const directory = new Directory((afterId) =>
    Promise.resolve(stored.filter(({ id }) => afterId === null || id > afterId).slice(0, 250)),
  );
  await directory.entries();
  for (let n = 0; n <= 10_000; n += 1) {
    const record = listed(`b${String(n).padStart(5, '0')}`, 2 + n);
    stored.push(record);
    directory.note(record);
  }
  t.equal((await directory.entries()).length, 10_002);
});
