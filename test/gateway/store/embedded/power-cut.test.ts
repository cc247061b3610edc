import { copyFileSync, existsSync, writeFileSync } from 'node:fs';
import { setTimeout as later } from 'node:timers/promises';
import { join } from 'node:path';
import t from 'tap';
import { open } from 'lmdb';
import { unpackRow } from '../../../../src/gateway/store/embedded/log/row.js';
import { engineOn, ENTRY, ledgerOf, NOON_MS, recordOf, requestOf, requestsOf, tempFolder } from './fixture.js';
import { byName } from '../../admission/verdict.js';

/**
 * A power cut cannot be had in a test. What can: the machine comes up with another boot id, the file that is never
 * synced is there in ruins, and the synced one holds what its last commit held. That a synced LMDB commit outlives a
 * power cut is LMDB's promise (its commits write data, sync, then write the header, synced), not proven here.
 */
const nowMs = NOON_MS;

async function savedAtLeast(folder: string, requests: number): Promise<void> {
  const durable = open<Buffer, string>(join(folder, 'durable.mdb'), {
    encoding: 'binary',
    overlappingSync: false,
    mapSize: 64 * 1_048_576,
  });
  const deadlineMs = Date.now() + 30_000;
  for (;;) {
    durable.resetReadTxn();
    const [last] = durable.getRange({ start: 'm', end: 'l', reverse: true, limit: 1 });
    const saved =
      last === undefined
        ? 0
        : (Array.from(unpackRow(last.value), ({ slots }) => slots[0]?.counts.requests ?? 0)[0] ?? 0);
    if (saved >= requests) break;
    if (Date.now() > deadlineMs) throw new Error(`only ${saved} of ${requests} saved after 30 s`);
    await later(20);
  }
  await durable.close();
}

t.test('admissions get to the disk by themselves, and outlive a power cut', async (t) => {
  const folder = tempFolder(t);
  const engine = engineOn(t, folder, { bootId: 'one' });
  await engine.keys.write(recordOf('k'), ENTRY);
  await engine.admit(Array.from({ length: 50 }, () => requestOf('k', { nowMs })));
  await savedAtLeast(folder, 50);
  await engine.admit(Array.from({ length: 5 }, () => requestOf('k', { nowMs })));

  // What the disk holds at the cut: the synced file whole, the other one in ruins.
  const disk = tempFolder(t);
  copyFileSync(join(folder, 'durable.mdb'), join(disk, 'durable.mdb'));
  writeFileSync(join(disk, 'recent-one.mdb'), Buffer.alloc(20_000, 0xa5));
  const after = engineOn(t, disk, { bootId: 'two' });
  t.notOk(existsSync(join(disk, 'recent-one.mdb')), 'what cannot be trusted is gone');
  const [row] = await ledgerOf(after);
  t.ok(row !== undefined && row.requests >= 50 && row.requests <= 55, `${row?.requests ?? 0} of 55 there`);
  const [verdict] = await after.admit([requestOf('k', { nowMs, cost: 0 })]);
  t.match(
    byName(verdict),
    { outcome: 'admitted', windows: { minute: { remaining: 60 - (row?.requests ?? 0) } } },
    'buckets and ledger are of one moment',
  );
});

t.test('closing saves everything: after an orderly restart of the machine nothing is missing', async (t) => {
  const folder = tempFolder(t);
  const engine = engineOn(t, folder, { bootId: 'one' });
  await engine.keys.write(recordOf('k'), ENTRY);
  const untilMs = Date.now() + 60_000;
  await engine.admit(Array.from({ length: 50 }, () => requestOf('k')));
  await engine.bans.start('k', untilMs);
  await engine.close();
  const after = engineOn(t, folder, { bootId: 'two' });
  t.equal(await requestsOf(after, 'k'), 50);
  t.match(await after.bans.read('k'), { untilMs });
  await after.bans.lift('k');
  const verdicts = await after.admit(Array.from({ length: 20 }, () => requestOf('k')));
  t.equal(verdicts.filter(({ outcome }) => outcome === 'admitted').length, 10, 'the bucket went on where it was');
  t.equal(await requestsOf(after, 'k'), 60, 'and so did the ledger');
});
