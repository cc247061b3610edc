import fs from 'node:fs';
import { syncBuiltinESMExports } from 'node:module';
import { setTimeout as pause } from 'node:timers/promises';
import type { EmbeddedEngine } from '../../../../src/gateway/store/embedded/engine.js';

/**
 * One process of a test that admits for ever, tells `{admitted}` after each batch, and ends itself with SIGKILL within
 * what its second argument names: the third says at which of its occurrences.
 */
const [, , folder = '', phase, at = '1'] = process.argv;
const BATCH = 8;
const JOURNAL = /journal-\d+$/;
const journals = new Set<number>();
let left = Number(at);

/** Whether this is the occurrence to die in. */
const isDue = (name: string): boolean => name === phase && (left -= 1) === 0;
const die = (): void => void process.kill(process.pid, 'SIGKILL');

/** Parts of a phase that are told apart by its number: before, within or after a call to the system. */
const { writeSync, fdatasync, openSync, rmSync, readFileSync } = fs;
Object.assign(fs, {
  writeSync: (file: number, bytes: Buffer, ...rest: [number, number]) => {
    if (!journals.has(file) || !isDue('append')) return writeSync(file, bytes, ...rest);
    const part = [0, bytes.length >> 1, bytes.length - 1, bytes.length][Number(at) % 4]!;
    writeSync(file, bytes.subarray(0, part));
    die();
    return 0;
  },
  fdatasync: (file: number, done: fs.NoParamCallback) => {
    if (!isDue('sync')) fdatasync(file, done);
    else if (Number(at) % 2 === 0) die();
    else fdatasync(file, die);
  },
  openSync: (path: string, ...rest: [string, number]) => {
    const file = openSync(path, ...rest);
    if (JOURNAL.test(path)) journals.add(file);
    if (JOURNAL.test(path) && isDue('replay')) die();
    // Each turn of the event loop is a part of the fold.
    if (JOURNAL.test(path) && isDue('fold')) afterTurns(Number(at) % 5);
    return file;
  },
  rmSync: (path: string, ...rest: [fs.RmOptions]) => {
    if (JOURNAL.test(path) && isDue('end of a fold')) die();
    rmSync(path, ...rest);
  },
  readFileSync: (path: string, ...rest: []) => {
    const bytes = readFileSync(path, ...rest);
    if (JOURNAL.test(path) && isDue('replay')) die();
    return bytes;
  },
});
syncBuiltinESMExports();

function afterTurns(turns: number): void {
  if (turns === 0) die();
  else setImmediate(() => afterTurns(turns - 1));
}

// Only now: what loads before has the system's calls already.
const { NOON_MS, PLANS, requestOf } = await import('./fixture.js');
const { openEmbeddedEngine } = await import('../../../../src/gateway/store/embedded/engine.js');
const engine = openEmbeddedEngine({ folder, plans: PLANS, usageDays: 400, mapBytes: 64 * 1_048_576 });

/** A report folds the journal. */
async function report({ usage }: EmbeddedEngine): Promise<void> {
  for await (const rows of usage.rows('2026-01-01', '2999-12-31')) if (rows.length > 0 && isDue('report')) die();
}

async function exportAll({ keys }: EmbeddedEngine): Promise<void> {
  for (let after: string | null = null; ;) {
    const some = await keys.snapshots(after, 10, '2026-01-01');
    if (isDue('export')) die();
    if (some.length < 10) return;
    after = some.at(-1)!.record.id;
  }
}

process.on('disconnect', () => process.exit());
let beside: Promise<void> | undefined;
for (;;) {
  const verdicts = await engine.admit(Array.from({ length: BATCH }, () => requestOf('k', { nowMs: NOON_MS })));
  const admitted = verdicts.filter(({ outcome }) => outcome === 'admitted').length;
  // Told before the next batch begins, or what is untold at the kill would have no bound.
  await new Promise((resolve) => process.send?.({ admitted }, resolve));
  await pause(1);
  beside ??= Promise.all([report(engine), exportAll(engine)]).then(() => (beside = undefined));
}
