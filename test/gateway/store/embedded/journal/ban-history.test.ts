import t from 'tap';
import type { Test } from 'tap';
import { openEmbeddedEngine, type EmbeddedEngine } from '../../../../../src/gateway/store/embedded/engine.js';
import { askMany, change, newKey, NOON_MS, PLANS } from '../../../../conformance/cast.js';
import { toldOf } from '../../../../conformance/told.js';
import { tempFolder } from '../fixture.js';

function open(t: Test, folder: string): EmbeddedEngine {
  const engine = openEmbeddedEngine({ folder, plans: PLANS, usageDays: 400, mapBytes: 64 * 2 ** 20 });
  t.teardown(() => engine.close());
  return engine;
}

t.test('without events too a ban stands in the history, once, and after a restart', async (t) => {
  const folder = tempFolder(t);
  const engine = open(t, folder);
  const key = await newKey(engine, 'strict');
  await askMany(engine, key, 8, NOON_MS);
  await change(engine, key, { note: 'later' });
  for (let times = 0; times < 2; times += 1)
    t.match(await engine.keys.history(key.id), [
      ...[{ action: 'created' }, { action: 'banned', atMs: NOON_MS }, { action: 'changed' }],
    ]);
  t.same(await toldOf(engine, key.id), []);
  await engine.close();
  const later = open(t, folder);
  t.equal((await later.keys.history(key.id)).length, 3);
  t.equal((await later.bans.read(key.id))?.level, 1);
});
