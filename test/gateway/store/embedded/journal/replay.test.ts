import { copyFileSync, cpSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { journalFiles, journalPath } from '../../../../../src/gateway/store/embedded/journal/journal.js';
import { createLog } from '../../../../../src/shared/log.js';
import { engineOn, ENTRY, ledgerOf, NOON_MS, recordOf, requestOf, tempFolder } from '../fixture.js';
import { byName } from '../../../admission/verdict.js';

const nowMs = NOON_MS;
/** Images of a power cut: as many places of the journal. */
const CUTS = process.env['PETGATE_LONG'] === '1' ? 400 : 100;

/** A folder that was never closed, with `batches` of two requests in its journal. */
async function left(t: Parameters<typeof engineOn>[0], batches: number): Promise<{ folder: string; journal: string }> {
  const folder = tempFolder(t);
  const engine = engineOn(t, folder);
  await engine.keys.write(recordOf('k', { plan: 'open' }), ENTRY);
  for (let n = 0; n < batches; n += 1) await engine.admit([requestOf('k', { nowMs }), requestOf('k', { nowMs })]);
  const disk = tempFolder(t);
  cpSync(folder, disk, { recursive: true });
  return { folder: disk, journal: journalPath(disk, journalFiles(disk).at(-1)!) };
}

t.test('a power cut at any place of the journal leaves whole batches, buckets and ledger of one moment', async (t) => {
  const { folder, journal } = await left(t, 12);
  const whole = readFileSync(journal);
  const image = join(tempFolder(t), 'image');
  let [wrong, last] = [0, -1];
  for (let cut = 0; cut < CUTS; cut += 1) {
    mkdirSync(image);
    for (const name of readdirSync(folder)) copyFileSync(join(folder, name), join(image, name));
    const bytes = Math.round((cut / (CUTS - 1)) * whole.length);
    // What was not synced may be missing, or be there as nothing.
    const rest = cut % 2 === 0 ? Buffer.alloc(0) : Buffer.alloc(whole.length - bytes);
    writeFileSync(join(image, journal.slice(folder.length + 1)), Buffer.concat([whole.subarray(0, bytes), rest]));
    const engine = engineOn(t, image, { log: createLog('gateway', 'silent') });
    const requests = (await ledgerOf(engine, 'k'))[0]?.requests ?? 0;
    const [verdict] = await engine.admit([requestOf('k', { nowMs, cost: 0 })]);
    const spent = 1_000_000 - byName(verdict).windows['minute']!.remaining;
    if (requests !== spent || requests % 2 !== 0 || requests > 24) wrong += 1;
    last = Math.max(last, requests);
    await engine.close();
    rmSync(image, { recursive: true });
  }
  t.equal(wrong, 0, `of ${CUTS} images`);
  t.equal(last, 24, 'the last has all');
});

t.test('a part of the journal that is damaged is named and kept, and all other records are there', async (t) => {
  const { folder, journal } = await left(t, 12);
  const bytes = readFileSync(journal);
  bytes[Math.floor(bytes.length / 2)]! ^= 0xff;
  writeFileSync(journal, bytes);
  const lines: object[] = [];
  const log = createLog('gateway', 'silent');
  log.error = (line: object) => void lines.push(line);
  const engine = engineOn(t, folder, { log });
  t.match(lines, [{ file: journal, copiedTo: `${journal}.damaged`, at: Number, bytes: Number }]);
  t.ok(readdirSync(folder).some((name) => name.endsWith('.damaged')));
  t.equal((await ledgerOf(engine, 'k'))[0]?.requests, 24, 'a later record has the state after it');
  t.match(await engine.admit([requestOf('k')]), [{ outcome: 'admitted' }]);
});
