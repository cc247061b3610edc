import t from 'tap';
import type { Test } from 'tap';
import { Checkpoint } from '../../../../../src/gateway/store/embedded/log/checkpoint.js';
import { openStores, type Stores } from '../../../../../src/gateway/store/embedded/files/stores.js';
import { transact } from '../../../../../src/gateway/store/embedded/log/transaction.js';
import { NOON_MS, tempFolder } from '../fixture.js';

function storesOn(t: Test, folder: string, bootId = 'one'): Stores {
  const stores = openStores({ folder, mapBytes: 64 * 1_048_576, bootId });
  t.teardown(() => stores.close());
  return stores;
}

/** Counts one request of a key and gives how many there are. */
function count(stores: Stores, id: string, operation = 'listPets', atMs = NOON_MS): number {
  return transact(stores, (transaction) => {
    const entry = transaction.key(id);
    entry.state.minute.level += 1;
    transaction.count(entry, 'free', operation, atMs, 'requests');
    return entry.state.minute.level;
  });
}

function seenBy(stores: Stores, id: string): number {
  stores.memtable.refresh();
  return stores.memtable.stateOf(id).minute.level;
}

t.test('each process decides by what the others have just committed, merged or not', async (t) => {
  const folder = tempFolder(t);
  const [first, second] = [storesOn(t, folder), storesOn(t, folder)];
  const checkpoint = new Checkpoint(first);
  t.equal(count(first, 'k'), 1);
  t.equal(count(second, 'k'), 2);
  t.equal(count(first, 'k'), 3);
  await checkpoint.save();
  t.equal(count(second, 'k'), 4, 'what is saved stays in the log');
  t.equal(count(first, 'other'), 1);
  await checkpoint.merge();
  t.equal(first.memtable.unmergedCount, 0);
  t.equal(count(first, 'k'), 5);
  await checkpoint.merge();
  t.equal(count(second, 'k'), 6, 'also when the rows in between were gone before they were read');
  t.equal(seenBy(first, 'k'), 6);
  t.equal(seenBy(second, 'other'), 1);
});

t.test('a transaction that fails leaves nothing behind, here neither', (t) => {
  const stores = storesOn(t, tempFolder(t));
  count(stores, 'k');
  const failing = (): unknown =>
    transact(stores, (transaction) => {
      const entry = transaction.key('k');
      entry.state.minute.level += 1;
      transaction.count(entry, 'free', 'listPets', NOON_MS, 'requests');
      throw new Error('disk full');
    });
  t.throws(failing, { message: 'disk full' });
  t.equal(seenBy(stores, 'k'), 1);
  t.equal(count(stores, 'k'), 2);
  t.end();
});

t.test('two processes that merge at once lose nothing', async (t) => {
  const folder = tempFolder(t);
  const both = [storesOn(t, folder), storesOn(t, folder)];
  const ids = Array.from({ length: 1_200 }, (_, n) => `k${n}`);
  for (let round = 1; round <= 3; round += 1) {
    for (const stores of both) for (const id of ids) count(stores, id);
    await Promise.all(both.map((stores) => new Checkpoint(stores).merge()));
    for (const stores of both)
      t.ok(
        ids.every((id) => seenBy(stores, id) === 2 * round),
        `round ${round}`,
      );
  }
  const after = storesOn(t, folder, 'two');
  t.ok(
    ids.every((id) => seenBy(after, id) === 6),
    'all stands in the synced file',
  );
});

t.test('what was saved and not merged outlives the file that is never synced', async (t) => {
  const folder = tempFolder(t);
  const before = storesOn(t, folder);
  for (let n = 0; n < 3; n += 1) count(before, 'k');
  await new Checkpoint(before).merge();
  for (let n = 0; n < 4; n += 1) count(before, 'k');
  count(before, 'l', 'getPet');
  await new Checkpoint(before).save();
  count(before, 'k');
  const after = storesOn(t, folder, 'two');
  t.equal(seenBy(after, 'k'), 7, 'all but what came after the last save');
  t.equal(seenBy(after, 'l'), 1);
  t.equal(count(after, 'k'), 8);
  await new Checkpoint(after).save();
  const third = storesOn(t, folder, 'three');
  t.equal(seenBy(third, 'k'), 8, 'and of the next one too');
});
