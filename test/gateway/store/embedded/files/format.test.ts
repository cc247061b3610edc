import { cpSync } from 'node:fs';
import { join } from 'node:path';
import { open } from 'lmdb';
import t from 'tap';
import { engineOn, ENTRY, recordOf, tempFolder } from '../fixture.js';

for (const [row, left, message] of [
  ['x', 'days of the ledger in an archive', /^Days of .*usage archive restore/],
  ['m', 'an import of keys unfinished', /^An import of keys .* is unfinished in .* start 0\.2 .*petgate keys import/],
] as const) {
  t.test(`a folder in which 0.2 left ${left} is refused`, async (t) => {
    const folder = tempFolder(t);
    const durable = open<Buffer, string>(join(folder, 'durable.mdb'), { encoding: 'binary' });
    await durable.put(row, Buffer.from('{"id":"one","phase":"staging","untilMs":1}'));
    await durable.close();
    t.throws(() => engineOn(t, folder), { name: 'StoreUnavailable', message });
  });
}

t.test('a folder of 0.2 is taken over and marked; one of a later version is refused', async (t) => {
  const folder = tempFolder(t);
  const format = async (is?: string): Promise<string | undefined> => {
    const durable = open<Buffer, string>(join(folder, 'durable.mdb'), { encoding: 'binary' });
    if (is !== undefined) await durable.put('F', Buffer.from(is));
    const found = durable.getBinary('F')?.toString();
    await durable.close();
    return found;
  };
  t.equal(await format(), undefined);
  const first = engineOn(t, folder);
  await first.keys.write(recordOf('kept'), ENTRY);
  await first.close();
  t.equal(await format(), '1');
  t.match(await engineOn(t, folder).keys.read('kept'), { id: 'kept' });
  const { keys } = engineOn(t, folder);
  await keys.write(recordOf('kept', { version: 2 }), { ...ENTRY, action: 'corrected' });
  t.equal(await format(), '2', 'since the first correction, which 0.3 would lose');
  t.match(await engineOn(t, folder).keys.corrected(null, 9), ['kept']);
  t.equal(await format('3'), '3');
  const other = tempFolder(t);
  cpSync(folder, other, { recursive: true });
  t.throws(() => engineOn(t, other), { name: 'StoreUnavailable', message: /format 3, .* does not know/ });
});
