import t from 'tap';
import type { Test } from 'tap';
import { openStores, type Stores } from '../../../../../src/gateway/store/embedded/owner/stores.js';
import { rangeOf } from '../../../../../src/gateway/store/embedded/files/rows.js';
import { journalFiles } from '../../../../../src/gateway/store/embedded/journal/journal.js';
import { transact } from '../../../../../src/gateway/store/embedded/owner/transaction.js';
import { copyOf, NOON_MS, tempFolder } from '../fixture.js';

/** What one turn of the event loop may be held up by. */
const MAX_SUBJECTS = 250;
const IDS = Array.from({ length: 1_500 }, (_, n) => `k${n}`);

function storesOn(t: Test, folder: string): Stores {
  const stores = openStores({ folder, mapBytes: 64 * 1_048_576 });
  t.teardown(() => stores.close().catch(() => undefined));
  return stores;
}

/** One admission of each. */
function admit(stores: Stores, ids: readonly string[]): void {
  for (const id of ids)
    transact(stores, (transaction) => {
      const entry = transaction.key(id);
      entry.state.minute.level += 1;
      transaction.count(entry, 'free', 'listPets', NOON_MS, 'requests');
    });
}

function levelsIn(stores: Stores): readonly number[] {
  return IDS.map((id) => stores.memory.stateOf('s', id).minute.level);
}

/** Calls `between` after each transaction on the file. */
function between(stores: Stores, work: () => void): void {
  const write = stores.write.bind(stores);
  stores.write = async (change) => {
    const result = await write(change);
    work();
    return result;
  };
}

t.test('a fold takes some subjects at a time, and leaves what changes meanwhile to the next', async (t) => {
  const folder = tempFolder(t);
  const stores = storesOn(t, folder);
  admit(stores, IDS);
  let transactions = 0;
  between(stores, () => {
    transactions += 1;
    admit(stores, ['k0', 'k9']);
  });
  await stores.fold.run();
  t.ok(transactions >= IDS.length / MAX_SUBJECTS, `${transactions} parts`);
  t.equal(stores.memory.unfoldedCount, 2, 'only what changed meanwhile is left');
  t.equal(stores.durable.getKeysCount(rangeOf('u')), IDS.length, 'in the ledger');
  t.equal(journalFiles(folder).length, 1, 'the journal begins anew');
  const after = storesOn(t, copyOf(t, folder));
  t.strictSame(levelsIn(after).slice(0, 10), [1 + transactions, 1, 1, 1, 1, 1, 1, 1, 1, 1 + transactions]);
});

t.test('a kill between any two parts of a fold loses nothing and counts nothing twice', async (t) => {
  const folder = tempFolder(t);
  const stores = storesOn(t, folder);
  admit(stores, IDS);
  const copies: string[] = [];
  between(stores, () => {
    copies.push(copyOf(t, folder));
    admit(stores, ['k1']);
  });
  await stores.fold.run();
  for (const [n, copy] of copies.entries()) {
    const after = storesOn(t, copy);
    await after.fold.run();
    t.ok(
      levelsIn(after).every((level, key) => level === (key === 1 ? 1 + n : 1)),
      `after part ${n}`,
    );
    await after.close();
  }
});

t.test('what did not get to the disk is folded by the next', async (t) => {
  const folder = tempFolder(t);
  const stores = storesOn(t, folder);
  admit(stores, IDS);
  const write = stores.write.bind(stores);
  stores.write = () => Promise.reject(new Error('the disk failed'));
  await t.rejects(stores.fold.run(), { message: 'the disk failed' });
  stores.write = write;
  admit(stores, ['k1']);
  await stores.fold.run();
  await stores.close();
  t.strictSame(levelsIn(storesOn(t, folder)).slice(0, 3), [1, 2, 1]);
});
