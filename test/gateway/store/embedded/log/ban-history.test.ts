import t from 'tap';
import type { Test } from 'tap';
import { openEmbeddedEngine, type EmbeddedEngine } from '../../../../../src/gateway/store/embedded/engine.js';
import { askMany, change, newKey, NOON_MS, PLANS } from '../../../../conformance/cast.js';
import { toldOf } from '../../../../conformance/told.js';
import { tempFolder } from '../fixture.js';

function open(t: Test, folder: string, bootId = 'this boot'): EmbeddedEngine {
  const engine = openEmbeddedEngine({ folder, plans: PLANS, usageDays: 400, mapBytes: 64 * 2 ** 20, bootId });
  t.teardown(() => engine.close());
  return engine;
}

t.test('without events too a ban stands in the history, once for all processes, and after a power cut', async (t) => {
  const folder = tempFolder(t);
  const [one, other] = [open(t, folder), open(t, folder)];
  const key = await newKey(one, 'strict');
  await askMany(one, key, 8, NOON_MS);
  await change(one, key, { note: 'later' });
  for (const engine of [other, one, other])
    t.match(await engine.keys.history(key.id), [
      ...[{ action: 'created' }, { action: 'banned', atMs: NOON_MS }, { action: 'changed' }],
    ]);
  t.same(await toldOf(one, key.id), []);
  await one.close();
  await other.close();
  const later = open(t, folder, 'the next boot');
  t.equal((await later.keys.history(key.id)).length, 3);
  t.equal((await later.bans.read(key.id))?.level, 1);
});
