import { cpSync, statSync, truncateSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { journalFiles, journalPath } from '../../../../src/gateway/store/embedded/journal/journal.js';
import { until } from '../../../servers/until.js';
import { engineOn, ENTRY, ledgerOf, partsOn, PLANS, recordOf, requestOf, tempFolder } from './fixture.js';

t.test('a key whose import a kill met before the file had it is whole after the restart, or not there', async (t) => {
  const from = engineOn(t, tempFolder(t));
  await from.keys.write(recordOf('k', { plan: 'strict' }), { ...ENTRY, changed: { plan: 'strict' } });
  const requests = Array.from({ length: 4 }, () => requestOf('k'));
  t.same(
    (await from.admit(requests)).map(({ outcome }) => outcome),
    ['admitted', 'limited', 'banned', 'banned'],
  );
  const snapshots = await from.keys.snapshots(null, 10, '2026-01-01');
  const [ban, usage] = [await from.bans.read('k'), await ledgerOf(from)];
  t.ok(ban);

  const [folder, copies] = [tempFolder(t), tempFolder(t)];
  const { engine, stores } = partsOn(t, folder, PLANS, 30);
  const { takeOver } = stores.fold;
  const { appended } = stores.journal;
  let calls = 0;
  // The restore reads what is there; then the file gets nothing more.
  Object.assign(stores.fold, { takeOver: () => (++calls === 1 ? takeOver() : new Promise(() => undefined)) });
  void engine.keys.restore(snapshots);
  await until('the journal has it', () => stores.journal.appended > appended);
  for (const isCut of [false, true]) {
    const copy = join(copies, String(isCut));
    cpSync(folder, copy, { recursive: true, filter: (path) => !path.endsWith('.lock') });
    const last = journalPath(copy, journalFiles(copy).at(-1)!);
    if (isCut) truncateSync(last, statSync(last).size - 1);
    const after = engineOn(t, copy);
    const history = await after.keys.history('k');
    const found = {
      record: await after.keys.read('k'),
      ban: await after.bans.read('k'),
      actions: history.map(({ action }) => action),
      usage: await ledgerOf(after),
    };
    t.same(
      found,
      isCut
        ? { record: undefined, ban: undefined, actions: [], usage: [] }
        : { record: snapshots[0]!.record, ban, actions: ['created', 'banned'], usage },
      isCut ? 'a kill within the write' : 'a kill after it',
    );
  }
  Object.assign(stores.fold, { takeOver });
  await takeOver();
  t.same(await engine.keys.restore(snapshots), ['unchanged'], 'repeating it changes nothing');
});
