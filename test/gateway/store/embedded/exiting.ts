/** Exits just when a transaction has the write lock and waits for its turn in the event loop. See exit.test.ts. */
import { openStores } from '../../../../src/gateway/store/embedded/files/stores.js';

const { durable } = openStores({ folder: process.argv[2] ?? '', mapBytes: 2 ** 26 });
void durable.transaction(() => durable.putSync('x', Buffer.from('never')));
setImmediate(() => {
  const stallMs = performance.now() + 50;
  while (performance.now() < stallMs);
  process.exit(0);
});
