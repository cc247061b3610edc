import t from 'tap';
import { countRows } from '../../../../../src/gateway/store/embedded/files/count-rows.js';
import { openStores } from '../../../../../src/gateway/store/embedded/owner/stores.js';
import { tempFolder } from '../fixture.js';

t.test('rows are counted some at a time, however many there are', async (t) => {
  const stores = openStores({ folder: tempFolder(t), mapBytes: 64 * 1_048_576 });
  t.teardown(() => stores.close());
  const { durable } = stores;
  const put = (kind: string, count: number): void =>
    durable.transactionSync(() => {
      for (let n = 0; n < count; n += 1) durable.putSync(`${kind}${n}`, Buffer.alloc(0));
    });
  t.equal(await countRows(durable, { start: 'y', end: 'z' }), 0);
  put('y', 20_000);
  put('z', 4_000);
  let turns = 0;
  let isDone = false;
  const other = (): void => {
    turns += 1;
    if (!isDone) setImmediate(other);
  };
  setImmediate(other);
  t.equal(await countRows(durable, { start: 'y', end: 'z' }), 20_000);
  isDone = true;
  t.ok(turns >= 5, `the event loop had ${turns} turns meanwhile`);
  t.equal(await countRows(durable, { start: 'z', end: 'z\uffff' }), 4_000, 'a whole number of parts');
});
