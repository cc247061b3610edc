import { text } from 'node:stream/consumers';
import { repeat } from '../../../shared/repeat.js';
import type { Log } from '../../../shared/log.js';
import { dayOf } from '../../../shared/utc-day.js';
import type { LedgerStore } from '../../store/ledger.js';
import { openArchive, type LedgerSettings } from '../archive/ledger.js';
import { runTask } from './task.js';
import { lackingDays, lackingText, type LackingDay } from '../archive/lacking.js';

/** Interval of checks. */
const EVERY_MS = 60_000;
/** Minimum interval of moves, if one fails or leaves days waiting. */
const RETRY_MS = 600_000;

/** The last known state of the archive. */
export interface ArchiveState {
  /** Whether the last run succeeded; null before the first. */
  readonly ok: boolean | null;
  /** Due days not yet moved, as of the last successful run. */
  readonly waiting: number;
  readonly days: number;
  /** Days that the archive had and now lacks. */
  readonly lacking: readonly LackingDay[];
}

interface ArchiveMaintenance {
  state(): ArchiveState;
  /** Starts no more moves. A running one finishes by itself. */
  stop(): void;
}

/**
 * Moves due days in a separate process, once per UTC day, first a minute after the start. Checks every minute that the
 * archive still has what was moved.
 * @param noted returns what was moved
 * @param everyMs tests only
 */
export function maintainArchive(
  { data, store }: LedgerSettings,
  noted: Pick<LedgerStore, 'archive'> | undefined,
  log: Log,
  everyMs = EVERY_MS,
): ArchiveMaintenance {
  let state: ArchiveState = { ok: null, waiting: 0, days: 0, lacking: [] };
  let doneOn = '';
  let notBeforeMs = performance.now() + everyMs;
  const move = async (): Promise<void> => {
    if (performance.now() < notBeforeMs || doneOn === dayOf(Date.now())) return;
    const today = dayOf(Date.now());
    notBeforeMs = performance.now() + Math.min(RETRY_MS, 10 * everyMs);
    const result = JSON.parse(await text(runTask({ kind: 'move', settings: { data, store } }))) as MoveResult;
    state = { ...state, ok: true, waiting: result.waiting.length, days: result.days };
    if (result.moved > 0) log.info({ days: result.moved, rows: result.rows }, 'days of the ledger were archived');
    if (result.waiting.length === 0) doneOn = today;
  };
  const check = async (): Promise<void> => {
    const lacking = await lackingNow(noted, { store });
    if (lacking.length > 0 && state.lacking.length === 0) log.error(lackingText(lacking));
    state = { ...state, lacking };
  };
  const work = async (): Promise<void> => {
    // If the archive does not respond, the next move reports it.
    await check().catch(() => undefined);
    await move();
  };
  const stop = repeat(everyMs, work, (error) => {
    state = { ...state, ok: false };
    log.error(
      { reason: error instanceof Error ? error.message : String(error) },
      'days of the ledger could not be archived',
    );
  });
  return { state: () => state, stop: () => void stop() };
}

/** Returns the days that the archive lacks: all moved days, if the settings name another archive or none. */
async function lackingNow(
  noted: Pick<LedgerStore, 'archive'> | undefined,
  settings: Pick<LedgerSettings, 'store'>,
): Promise<readonly LackingDay[]> {
  const note = await noted?.archive();
  if (note === undefined || note === null || note.days.size === 0) return [];
  const archive = await openArchive(settings);
  try {
    return lackingDays(note.days, archive?.id === note.id ? await archive.days() : new Map());
  } finally {
    await archive?.close();
  }
}

interface MoveResult {
  readonly moved: number;
  readonly rows: number;
  readonly waiting: readonly string[];
  readonly days: number;
}
