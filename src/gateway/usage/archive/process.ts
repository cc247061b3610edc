import { json } from 'node:stream/consumers';
import type { ArchivedLedger } from '../../store/ledger.js';
import { dueBefore, moveDays, waitingDays } from './move.js';
import { openBoth } from './open.js';
import { ArchiveDamaged } from './errors.js';
import type { Archive } from './port.js';
import { restoreDays } from './restore.js';
import { ownArchive } from './rows.js';
import { reasonOf } from './task.js';
import type { ArchiveTask } from './task.js';

/** A process of its own for one task about the archive: the gateway's event loop and memory carry none of it. */
const task = (await json(process.stdin)) as ArchiveTask;
/** An empty line now and then: who reads this takes a long silence for an end. */
setInterval(() => process.stdout.write('\n'), 10_000).unref();
const say = (line: object): void => void process.stdout.write(`${JSON.stringify(line)}\n`);

async function run(archive: Archive, store: ArchivedLedger): Promise<void> {
  switch (task.kind) {
    case 'status':
      say(await statusOf(archive, store));
      return;
    case 'move': {
      let [days, rows] = [0, 0];
      const done = await moveDays(store, archive, task.settings.store, (_day, its) => {
        [days, rows] = [days + 1, rows + its];
      });
      say({ moved: days, rows, done, ...(await statusOf(archive, store)) });
      return;
    }
    case 'verify':
      for (const day of await daysAsked(archive)) say(await verified(archive, day));
      return;
    case 'restore':
      await restoreDays(store, archive, await daysAsked(archive), (day, rows) => say({ day, rows }));
  }
}

/** What stands where: `waiting` are days that are due and still in the store alone. */
async function statusOf(archive: Archive, store: ArchivedLedger): Promise<object> {
  ownArchive(await store.archive(), archive);
  const days = await archive.days();
  const names = [...days.keys()];
  const before = await dueBefore(store, task.settings.store, Date.now());
  const waiting: string[] = [];
  for await (const day of waitingDays(store, archive, before, task.settings.store.usageDays)) waiting.push(day);
  for (const [day, state] of days) if (state === 'held') waiting.push(day);
  const pausedUntilMs = await archive.pausedUntilMs();
  return {
    days: names.length,
    first: names[0] ?? null,
    last: names.at(-1) ?? null,
    dueBefore: before,
    waiting: waiting.sort(),
    pausedUntil: pausedUntilMs > Date.now() ? new Date(pausedUntilMs).toISOString() : null,
  };
}

async function daysAsked(archive: Archive): Promise<readonly string[]> {
  const { from = '', to = '9999-12-31' } = task;
  return [...(await archive.days()).keys()].filter((day) => day >= from && day <= to);
}

/** A day that is damaged is told, and the others are looked at all the same. */
async function verified(archive: Archive, day: string): Promise<object> {
  try {
    return { day, ok: true, ...(await archive.verify(day)) };
  } catch (error) {
    if (!(error instanceof ArchiveDamaged)) throw error;
    return { day, ok: false, problem: error.message };
  }
}

try {
  const { store, archive } = await openBoth(task.settings);
  await run(archive, store).finally(() => Promise.all([archive.close(), store.close()]));
} catch (error) {
  process.stderr.write(reasonOf(error));
  process.exitCode = 1;
}
