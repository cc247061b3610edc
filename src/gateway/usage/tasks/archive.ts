import type { LedgerStore } from '../../store/ledger.js';
import { openRedisLedger } from '../../config/open-store.js';
import { archivedStore, openArchive, ownArchive } from '../archive/ledger.js';
import type { ArchiveTask } from './task.js';
import { dueBefore, moveDays, waitingDays, type MoveSettings } from '../archive/move.js';
import { ArchiveDamaged, ArchiveUnavailable } from '../archive/errors.js';
import { acceptLacking, lackingDays } from '../archive/lacking.js';
import type { Archive } from '../archive/archive.js';
import { restoreDays } from '../archive/restore.js';

/** Clients time out on a silent response: write an empty line this often. */
const SIGN_OF_LIFE_MS = 10_000;

export async function runArchiveTask(task: ArchiveTask): Promise<void> {
  setInterval(() => process.stdout.write('\n'), SIGN_OF_LIFE_MS).unref();
  const archive = await openArchive(task.settings);
  if (archive === null)
    throw new ArchiveUnavailable('There is no archive: set LEDGER_URL and start the gateways again.');
  const store = openRedisLedger(task.settings, archivedStore(task.settings));
  try {
    await run(task, archive, store);
  } finally {
    await Promise.all([archive.close(), store.close()]);
  }
}

function say(line: object): void {
  process.stdout.write(`${JSON.stringify(line)}\n`);
}

async function run(task: ArchiveTask, archive: Archive, store: LedgerStore): Promise<void> {
  const { store: settings } = task.settings;
  switch (task.kind) {
    case 'status':
      say(await statusOf(settings, archive, store));
      return;
    case 'move': {
      let [days, rows] = [0, 0];
      const done = await moveDays(store, archive, settings, (_day, its) => {
        [days, rows] = [days + 1, rows + its];
      });
      say({ moved: days, rows, done, ...(await statusOf(settings, archive, store)) });
      return;
    }
    case 'verify':
      for (const day of await requestedDays(task, archive)) say(await verified(archive, day));
      return;
    case 'accept':
      for (const lost of await acceptLacking(store, archive)) say(lost);
      return;
    case 'restore':
      await restoreDays(store, archive, await requestedDays(task, archive), (day, rows) => say({ day, rows }));
  }
}

/** Returns the archive's state: `waiting` are due days still in the store, `lacking` days that the archive lost. */
async function statusOf(settings: MoveSettings, archive: Archive, store: LedgerStore): Promise<object> {
  const note = await store.archive();
  ownArchive(note, archive);
  const days = await archive.days();
  const names = [...days.keys()];
  const before = await dueBefore(store, settings, Date.now());
  const waiting: string[] = [];
  for await (const day of waitingDays(store, before, settings.usage)) waiting.push(day);
  const pausedUntilMs = await archive.pausedUntilMs();
  return {
    days: names.length,
    first: names[0] ?? null,
    last: names.at(-1) ?? null,
    dueBefore: before,
    waiting,
    lacking: lackingDays(note?.days ?? new Map(), days),
    pausedUntil: pausedUntilMs > Date.now() ? new Date(pausedUntilMs).toISOString() : null,
  };
}

async function requestedDays(
  { from = '', to = '9999-12-31' }: ArchiveTask,
  archive: Archive,
): Promise<readonly string[]> {
  return [...(await archive.days()).keys()].filter((day) => day >= from && day <= to);
}

/** Reports a damaged day instead of rejecting, so that the other days are verified too. */
async function verified(archive: Archive, day: string): Promise<object> {
  try {
    return { day, ok: true, ...(await archive.verify(day)) };
  } catch (error) {
    if (!(error instanceof ArchiveDamaged)) throw error;
    return { day, ok: false, problem: error.message };
  }
}
