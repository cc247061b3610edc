import { join } from 'node:path';
import { open } from 'lmdb';
import t from 'tap';
import { engineOn, ENTRY, recordOf, tempFolder } from '../fixture.js';

t.test('a new folder is marked; one of 0.2 is refused, and so is one of a later version', async (t) => {
  const folder = tempFolder(t);
  const format = async (change?: (durable: ReturnType<typeof open<Buffer, string>>) => Promise<unknown>) => {
    const durable = open<Buffer, string>(join(folder, 'durable.mdb'), { encoding: 'binary' });
    await change?.(durable);
    const found = durable.getBinary('F')?.toString();
    await durable.close();
    return found;
  };
  const first = engineOn(t, folder);
  await first.keys.write(recordOf('kept'), ENTRY);
  await first.close();
  t.equal(await format(), '3');
  const again = engineOn(t, folder);
  t.match(await again.keys.read('kept'), { id: 'kept' });
  await again.close();
  t.equal(await format((durable) => durable.put('F', Buffer.from('4'))), '4');
  t.throws(() => engineOn(t, folder), { name: 'StoreUnavailable', message: /format 4, .* does not know/ });
  t.equal(await format((durable) => durable.remove('F')), undefined);
  t.throws(() => engineOn(t, folder), { name: 'StoreUnavailable', message: /of version 0\.2: start 0\.3 or 0\.4/ });
});
