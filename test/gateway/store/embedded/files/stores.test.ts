import { closeSync, fstatSync, openSync, readdirSync, readSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import type { Test } from 'tap';
import { createLog } from '../../../../../src/shared/log.js';
import { until } from '../../../../servers/until.js';
import { engineOn, ENTRY, recordOf, requestOf, requestsOf, tempFolder } from '../fixture.js';
import type { EmbeddedEngine } from '../../../../../src/gateway/store/embedded/engine.js';

const PAGE_BYTES = 4_096;
/** Where lmdb's lock file has the id of the last transaction. */
const LAST_ID_AT = 8;

function fileIn(folder: string, end: string): string {
  return join(
    folder,
    readdirSync(folder).find((name) => name.startsWith('recent-') && name.endsWith(end))!,
  );
}

/** What an opening in the middle of commits does: the last transactions are not the last any more. */
function setIdsBack(folder: string, by: number): void {
  const lock = openSync(fileIn(folder, '.mdb-lock'), 'r+');
  const id = Buffer.alloc(8);
  readSync(lock, id, 0, 8, LAST_ID_AT);
  id.writeBigUInt64LE(id.readBigUInt64LE() - BigInt(by));
  writeSync(lock, id, 0, 8, LAST_ID_AT);
  closeSync(lock);
}

/** All but the two heads, which say where the rest is. */
function wipe(folder: string): void {
  const file = openSync(fileIn(folder, '.mdb'), 'r+');
  const nothing = Buffer.alloc(fstatSync(file).size - 2 * PAGE_BYTES);
  writeSync(file, nothing, 0, nothing.length, 2 * PAGE_BYTES);
  closeSync(file);
}

async function admit(engine: EmbeddedEngine, times: number): Promise<number> {
  let admitted = 0;
  for (let n = 0; n < times; n += 1) {
    const verdicts = await engine.admit([requestOf('k')]).catch(() => []);
    if (verdicts[0]?.outcome === 'admitted') admitted += 1;
  }
  return admitted;
}

async function recovers(t: Test, harm: (folder: string) => void): Promise<void> {
  const folder = tempFolder(t);
  const engine = engineOn(t, folder, { log: createLog('gateway', 'silent') });
  await engine.keys.write(recordOf('k', { plan: 'open' }), ENTRY);
  let admitted = await admit(engine, 20);
  harm(folder);
  await t.rejects(engine.admit([requestOf('k')]), { name: 'StoreUnavailable' });
  await t.rejects(engine.check(), { name: 'StoreUnavailable', message: /opened anew/ }, 'the probe says so meanwhile');
  await until('it serves', () => engine.check().then(() => true));
  t.equal(engine.reopenings?.(), 1);
  admitted += await admit(engine, 20);
  t.equal(admitted, 40);
  const counted = await requestsOf(engine, 'k');
  t.ok(
    counted >= admitted && counted <= admitted + 1,
    `${admitted} answered, ${counted} counted: at most the one that failed is more`,
  );
}

t.test('ids of transactions that went back: the files are opened anew, and nothing is missing', (t) =>
  recovers(t, (folder) => setIdsBack(folder, 3)),
);

t.test('a recent file that is damaged: it is replaced, and nothing acknowledged is missing', (t) => recovers(t, wipe));

t.test('damaged while nothing ran: what was merged is there, and it serves', async (t) => {
  const folder = tempFolder(t);
  const before = engineOn(t, folder);
  await before.keys.write(recordOf('k', { plan: 'open' }), ENTRY);
  await admit(before, 20);
  await before.close();
  wipe(folder);
  const after = engineOn(t, folder);
  await until('it serves', () => after.check().then(() => true));
  t.equal(await admit(after, 1), 1);
  t.equal(await requestsOf(after, 'k'), 21);
});
