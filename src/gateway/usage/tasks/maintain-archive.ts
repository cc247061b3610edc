import { text } from 'node:stream/consumers';
import { repeat } from '../../../shared/turns/repeat.js';
import type { Log } from '../../../shared/log.js';
import { StoreUnavailable } from '../../admission/port.js';
import { dayOf } from '../../../shared/utc-day.js';
import type { LedgerStore } from '../../store/ledger.js';
import { openArchive, type LedgerSettings } from '../archive/ledger.js';
import { runTask } from './task.js';
import { lackingDays, lackingText, type LackingDay } from '../archive/lacking.js';

const EVERY_MS = 60_000;
/** Minimum interval of moves, if one fails or leaves days waiting. */
const RETRY_MS = 600_000;

/** The last known state of the archive. */
export interface ArchiveState {
  /** Whether the archive responded to the last check and the last move succeeded; null before the first move. */
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
  let hasMoved: boolean | null = null;
  let notBeforeMs = performance.now() + everyMs;
  const move = async (): Promise<void> => {
    if (performance.now() < notBeforeMs || doneOn === dayOf(Date.now())) return;
    const today = dayOf(Date.now());
    notBeforeMs = performance.now() + Math.min(RETRY_MS, 10 * everyMs);
    const result = JSON.parse(await text(runTask({ kind: 'move', settings: { data, store } }))) as MoveResult;
    hasMoved = true;
    state = { ...state, ok: true, waiting: result.waiting.length, days: result.days };
    if (result.moved > 0) log.info({ days: result.moved, rows: result.rows }, 'days of the ledger were archived');
    if (result.waiting.length === 0) doneOn = today;
  };
  const fail = (error: unknown): void => {
    state = { ...state, ok: false };
    const reason = error instanceof Error ? error.message : String(error);
    log.error({ reason }, 'days of the ledger could not be archived');
  };
  const check = async (): Promise<void> => {
    const lacking = await lackingNow(noted, { store });
    if (lacking.length > 0 && state.lacking.length === 0) log.error(lackingText(lacking));
    state = { ...state, ok: hasMoved, lacking };
  };
  const work = async (): Promise<void> => {
    await check().catch((error: unknown) => {
      // Without Redis it is unknown what the archive should have.
      if (state.ok !== false && !(error instanceof StoreUnavailable)) fail(error);
    });
    await move();
  };
  const stop = repeat(everyMs, work, (error) => {
    hasMoved = false;
    fail(error);
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
