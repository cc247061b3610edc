import { fork } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import t from 'tap';
import { openStores } from '../../../../src/gateway/store/embedded/files/stores.js';
import { tempFolder } from './fixture.js';

t.test('a process that exits in the middle of a transaction ends, and others can write', async (t) => {
  const folder = tempFolder(t);
  const child = fork(fileURLToPath(new URL('exiting.js', import.meta.url)), [folder]);
  t.teardown(() => child.kill('SIGKILL'));
  const timer = setTimeout(() => child.kill('SIGTERM'), 5_000);
  const [, signal] = (await once(child, 'exit')) as [number | null, string | null];
  clearTimeout(timer);
  t.not(signal, 'SIGTERM', 'it did not have to be told');
  const { recent, durable } = openStores({ folder, mapBytes: 2 ** 26 });
  t.teardown(() => Promise.all([recent.close(), durable.close()]));
  await durable.transaction(() => durable.putSync('y', Buffer.from('there')));
  t.equal(durable.getBinary('x'), undefined);
  t.equal(durable.getBinary('y')?.toString(), 'there');
});
