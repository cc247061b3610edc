import { cpSync, statSync, truncateSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { journalFiles, journalPath } from '../../../../src/gateway/store/embedded/journal/journal.js';
import { banEvent } from '../../../../src/gateway/store/records/facts.js';
import { until } from '../../../servers/until.js';
import { toldOf } from '../../../conformance/told.js';
import { engineOn, ENTRY, partsOn, PLANS, recordOf, tempFolder } from './fixture.js';

t.test('a ban by hand that a kill met before the file had it is whole after the restart, or not there', async (t) => {
  const [folder, copies] = [tempFolder(t), tempFolder(t)];
  const { engine, stores } = partsOn(t, folder, PLANS, 30);
  await engine.keys.write(recordOf('k'), ENTRY);
  const { takeOver } = stores.fold;
  const untilMs = Date.now() + 60_000;
  const event = banEvent('k', 'strict', { untilMs, level: 1, reason: 'a loop' }, ENTRY.atMs);
  const entry = { ...ENTRY, action: 'banned', changed: { until: untilMs } } as const;
  const note = { reason: 'a loop', actor: 'ops' };
  const { appended } = stores.journal;
  const waiting: ((done: Promise<void>) => void)[] = [];
  Object.assign(stores.fold, { takeOver: () => new Promise<void>((resolve) => waiting.push(resolve)) });
  const banning = engine.keys.write(recordOf('k', { version: 2 }), entry, {
    ...{ emit: [event], withdraw: [] },
    ban: { untilMs, note },
  });
  await until('the journal has it', () => stores.journal.appended > appended);
  // What a kill leaves: the folder as it is now, and without the last byte of the journal.
  for (const isCut of [false, true]) {
    const copy = join(copies, String(isCut));
    cpSync(folder, copy, { recursive: true, filter: (path) => !path.endsWith('.lock') });
    const last = journalPath(copy, journalFiles(copy).at(-1)!);
    if (isCut) truncateSync(last, statSync(last).size - 1);
    const after = engineOn(t, copy);
    const history = await after.keys.history('k');
    const found = {
      version: (await after.keys.read('k'))?.version,
      ban: await after.bans.read('k'),
      actions: history.map(({ action }) => action),
      told: await toldOf(after, 'k'),
    };
    t.same(
      found,
      isCut
        ? { version: 1, ban: undefined, actions: ['created'], told: [] }
        : { version: 2, ban: { keyId: 'k', untilMs, level: 1, note }, actions: ['created', 'banned'], told: [event] },
      isCut ? 'a kill within the write' : 'a kill behind it',
    );
  }
  const next = { ...ENTRY, action: 'changed' } as const;
  const early = engine.keys.write(recordOf('k', { version: 3 }), next);
  await t.rejects(early, { name: 'VersionConflict' }, 'nothing is written that the file would lose to it');
  Object.assign(stores.fold, { takeOver });
  // Also of what maintenance began meanwhile: the end of the test waits for that.
  for (const resolve of waiting) resolve(takeOver.call(stores.fold));
  await banning;
  t.same((await engine.keys.history('k')).at(-1), entry);
  await engine.keys.write(recordOf('k', { version: 3 }), next);
  t.equal((await engine.keys.read('k'))?.version, 3);
});
