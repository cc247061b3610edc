import { copyFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import type { Test } from 'tap';
import { openStores, type Stores } from '../../../../../src/gateway/store/embedded/files/stores.js';
import { rangeOf } from '../../../../../src/gateway/store/embedded/files/rows.js';
import { Checkpoint } from '../../../../../src/gateway/store/embedded/log/checkpoint.js';
import { unpackRow } from '../../../../../src/gateway/store/embedded/log/row.js';
import { nextPending } from '../../../../../src/gateway/store/embedded/log/pending.js';
import { transact } from '../../../../../src/gateway/store/embedded/log/transaction.js';
import { crossedEvent } from '../../../../../src/gateway/store/outbox/facts.js';
import { NOON_MS, tempFolder } from '../fixture.js';

/** What one turn of the event loop may be held up by: a thousand keys take a millisecond or two. */
const MAX_KEYS = 1_000;
const IDS = Array.from({ length: 3_500 }, (_, n) => `k${n}`);

function storesOn(t: Test, folder: string, bootId = 'one'): Stores {
  const stores = openStores({ folder, mapBytes: 64 * 1_048_576, bootId });
  t.teardown(() => stores.close());
  return stores;
}

/** One admission of each, with an event that it caused. */
function admit(stores: Stores, ids: readonly string[]): void {
  for (const id of ids)
    transact(stores, (transaction) => {
      const entry = transaction.key(id);
      entry.state.minute.level += 1;
      transaction.count(entry, 'free', 'listPets', NOON_MS, 'requests');
      const crossing = { window: 'day', startDay: 1, threshold: 50, limit: 2, used: 1 } as const;
      transaction.emit(crossedEvent(id, id, 'free', crossing, NOON_MS));
    });
}

/** How many keys each row of the log's copy has. */
function copiedRows(stores: Stores): readonly number[] {
  stores.durable.resetReadTxn();
  return Array.from(stores.durable.getRange(rangeOf('l')), ({ value }) => [...unpackRow(value)].length);
}

function levelsIn(stores: Stores): ReadonlyMap<string, number> {
  stores.memtable.refresh();
  return new Map(IDS.map((id) => [id, stores.memtable.stateOf(id).minute.level]));
}

t.test(
  'a burst is copied some keys at a time; what changes meanwhile, and a cut between two parts, lose nothing',
  async (t) => {
    const [folder, disk] = [tempFolder(t), tempFolder(t)];
    const stores = storesOn(t, folder);
    admit(stores, IDS);
    const begun: number[] = [];
    // The part before this commit is on disk, this one is not.
    const { durable } = stores;
    const commit = durable.transaction.bind(durable);
    durable.transaction = async <T>(work: () => T): Promise<T> => {
      const result = await commit(work);
      begun.push(copiedRows(stores).length);
      if (begun.length === 2) copyFileSync(join(folder, 'durable.mdb'), join(disk, 'durable.mdb'));
      admit(stores, ['k0', `k${IDS.length - 1}`]);
      return result;
    };
    await new Checkpoint(stores).save();
    durable.transaction = commit;
    t.strictSame(begun, [1, 2, 3, 4], 'a transaction each');
    t.ok(Math.max(...copiedRows(stores)) <= MAX_KEYS, `${copiedRows(stores).join()} keys`);

    const cut = storesOn(t, disk, 'two');
    const levels = levelsIn(cut);
    const known = IDS.filter((id) => levels.get(id)! > 0);
    t.equal(known.length, 2 * MAX_KEYS, 'after the cut there is what was on disk');
    const sent = new Set<string>();
    cut.durable.transactionSync(() => {
      for (let events = nextPending(cut.durable); events !== undefined; events = nextPending(cut.durable))
        for (const event of events) if (typeof event !== 'string') sent.add(event.data.key);
    });
    t.equal(sent.size, 2 * MAX_KEYS, 'and of that alone events are sent');
    t.ok(known.every((id) => sent.has(id)));

    await new Checkpoint(stores).save();
    const after = levelsIn(storesOn(t, folder, 'three'));
    t.equal(after.get('k0'), 5);
    t.equal(after.get(`k${IDS.length - 1}`), 5);
    t.ok(
      IDS.slice(1, -1).every((id) => after.get(id) === 1),
      'what was saved is there, once',
    );
  },
);

t.test('what did not get to the disk is copied by the next save', async (t) => {
  const folder = tempFolder(t);
  const stores = storesOn(t, folder);
  const checkpoint = new Checkpoint(stores);
  admit(stores, IDS);
  const { durable } = stores;
  const commit = durable.transaction.bind(durable);
  durable.transaction = async <T>(work: () => T): Promise<T> => {
    await commit(() => {
      const put = durable.putSync.bind(durable);
      durable.putSync = () => true;
      work();
      durable.putSync = put;
    });
    throw new Error('the disk failed');
  };
  await t.rejects(checkpoint.save(), { message: 'the disk failed' });
  durable.transaction = commit;
  admit(stores, ['k1']);
  await checkpoint.save();
  const after = levelsIn(storesOn(t, folder, 'two'));
  t.equal(after.get('k1'), 2);
  t.ok(IDS.every((id) => after.get(id)! > 0));
});

t.test('a merge takes some keys at a time, and keeps what changes meanwhile for the next', async (t) => {
  const folder = tempFolder(t);
  const stores = storesOn(t, folder);
  const checkpoint = new Checkpoint(stores);
  admit(stores, IDS);
  const { durable } = stores;
  const commit = durable.transaction.bind(durable);
  let transactions = 0;
  durable.transaction = async <T>(work: () => T): Promise<T> => {
    transactions += 1;
    const result = await commit(work);
    admit(stores, ['k0', 'k9']);
    return result;
  };
  await checkpoint.merge();
  durable.transaction = commit;
  t.ok(transactions > IDS.length / MAX_KEYS + IDS.length / 250, 'in parts');
  t.ok(stores.memtable.unmergedCount <= 4, 'only what changed meanwhile is left');
  await checkpoint.save();
  const after = levelsIn(storesOn(t, folder, 'two'));
  t.equal(after.get('k0'), 1 + transactions);
  t.equal(after.get('k9'), 1 + transactions);
  t.equal(after.get('k1'), 1);
});

t.test('a merge has all that another process changed and saved', async (t) => {
  const folder = tempFolder(t);
  const [first, second] = [storesOn(t, folder), storesOn(t, folder)];
  admit(first, IDS);
  await new Checkpoint(first).save();
  await new Checkpoint(second).merge();
  t.equal(second.memtable.unmergedCount, 0);
  t.equal(second.durable.getKeysCount(rangeOf('u')), IDS.length, 'in the ledger');
});
