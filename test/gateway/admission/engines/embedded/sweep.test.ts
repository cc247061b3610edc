import t from 'tap';
import { Checkpoint } from '../../../../../src/gateway/admission/engines/embedded/checkpoint.js';
import { openStores } from '../../../../../src/gateway/admission/engines/embedded/stores.js';
import type { Store } from '../../../../../src/gateway/admission/engines/embedded/store.js';
import { Sweep } from '../../../../../src/gateway/admission/engines/embedded/sweep.js';
import { addressRequest, DAY_MS, engineOn, ENTRY, ledgerOf, NOON_MS, recordOf, requestOf, tempFolder } from './fixture.js';

function namesIn(store: Store, kind: string): readonly string[] {
  store.resetReadTxn();
  return [...store.getKeys({ start: kind, end: `${kind}\uffff` })].map((name) => name.replaceAll('\u001f', ' '));
}

t.test('what nobody needs any more goes, and nothing else', async (t) => {
  const folder = tempFolder(t);
  const engine = engineOn(t, folder, { usageDays: 30 });
  const stores = openStores({ folder, mapBytes: 64 * 1_048_576 });
  t.teardown(() => Promise.all([stores.recent.close(), stores.durable.close()]));
  const sweep = new Sweep(stores, 30);
  const checkpoint = new Checkpoint(stores);
  for (const id of ['busy', 'idle', 'banned']) await engine.keys.write(recordOf(id, { plan: 'strict' }), ENTRY);
  const earlierMs = NOON_MS - 3 * DAY_MS;
  await engine.admit([
    requestOf('idle', { nowMs: earlierMs }),
    requestOf('busy', { nowMs: NOON_MS - 31 * DAY_MS }),
    requestOf('busy', { nowMs: earlierMs }),
    addressRequest('192.0.2.1', { nowMs: earlierMs }),
    addressRequest('192.0.2.2', { nowMs: NOON_MS }),
  ]);
  await engine.bans.start('banned', NOON_MS + 1);
  await checkpoint.run();
  await engine.admit([requestOf('busy', { nowMs: NOON_MS })]);

  await sweep.run(NOON_MS);
  t.strictSame(namesIn(stores.recent, 'a'), ['a192.0.2.2']);
  t.strictSame(namesIn(stores.recent, 'r'), ['rbusy'], 'a key with unsaved usage stays');
  await checkpoint.run();
  await sweep.run(NOON_MS);
  t.strictSame(namesIn(stores.recent, 'r'), [], 'once saved it may go too');
  t.strictSame(namesIn(stores.durable, 's'), ['sbanned', 'sbusy']);
  t.strictSame(namesIn(stores.durable, 'u'), ['u2026-11-18 busy strict listPets', 'u2026-11-18 idle strict listPets', 'u2026-11-21 busy strict listPets']);

  const verdicts = await engine.admit([requestOf('busy', { nowMs: NOON_MS }), requestOf('banned', { nowMs: NOON_MS }), requestOf('idle', { nowMs: NOON_MS })]);
  t.strictSame(verdicts.map(({ outcome }) => outcome), ['limited', 'banned', 'admitted'], 'no decision changed by it');
  t.match((await ledgerOf(engine, 'busy')).at(-1), { requests: 1, limited: 1 }, 'and the ledger counts on');
});
