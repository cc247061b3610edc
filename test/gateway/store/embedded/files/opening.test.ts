import { fork } from 'node:child_process';
import { once } from 'node:events';
import { setImmediate as immediate } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import t from 'tap';
import { openStores } from '../../../../../src/gateway/store/embedded/files/stores.js';
import { doubleIn, putDouble } from '../../../../../src/gateway/store/embedded/files/store.js';
import { tempFolder } from '../fixture.js';

const OPENER = fileURLToPath(new URL('opener.js', import.meta.url));
const PROCESSES = 3;
const TIMES = 60;

t.setTimeout(600_000);

t.test('what one process commits stays, while others open and close the files', async (t) => {
  const folder = tempFolder(t);
  const stores = openStores({ folder, mapBytes: 64 * 1_048_576 });
  t.teardown(() => stores.close());
  const openers = Array.from({ length: PROCESSES }, () => fork(OPENER, [folder, String(TIMES)]));
  for (const opener of openers) t.teardown(() => opener.kill('SIGKILL'));
  let running = PROCESSES;
  const ended = openers.map((opener) => once(opener, 'exit').finally(() => (running -= 1)));
  let [committed, lost, lastId, wentBack] = [0, 0, 0, 0];
  while (running > 0) {
    stores.recent.transactionSync(() => {
      const id = stores.recent.getWriteTxnId();
      if (id <= lastId) wentBack += 1;
      lastId = id;
      lost += committed - doubleIn(stores.recent, 'probe');
      committed += 1;
      putDouble(stores.recent, 'probe', committed);
    });
    if (committed % 8 === 0) await immediate();
  }
  for (const [code] of (await Promise.all(ended)) as [number | null][]) t.equal(code, 0);
  t.ok(committed > PROCESSES * TIMES, 'it went on meanwhile');
  t.strictSame({ lost, wentBack }, { lost: 0, wentBack: 0 });
});
