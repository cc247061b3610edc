import { text } from 'node:stream/consumers';
import { repeat } from '../../../shared/repeat.js';
import type { Log } from '../../../shared/log.js';
import { dayOf } from '../../../shared/utc-day.js';
import type { LedgerStore } from '../../store/ledger.js';
import { openArchive, type LedgerSettings } from '../ledger.js';
import { runTask } from '../task.js';
import { lackingDays, lackingText, type LackingDay } from './lacking.js';

/** How often it is looked whether there is anything to do … */
const EVERY_MS = 60_000;
/** … and how long after a look that failed. */
const RETRY_MS = 600_000;

/** How the archive fares, as last seen. */
export interface ArchiveState {
  /** Whether the last time all went well; null before the first. */
  readonly ok: boolean | null;
  /** Days that are due and not moved; those of the time before where the last one failed. */
  readonly waiting: number;
  readonly days: number;
  /** Days that it had and lacks. */
  readonly lacking: readonly LackingDay[];
}

interface ArchiveMaintenance {
  state(): ArchiveState;
  /** The process under way, if any, is left to end by itself: it may be ended anywhere. */
  stop(): void;
}

/**
 * Moves what is due, once each UTC day and a minute after the start, in another process; and looks each minute whether
 * the archive still has what was moved.
 * @param noted says what was
 * @param everyMs tests only
 */
export function maintainArchive(
  { dataFolder, store }: LedgerSettings,
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
    const result = JSON.parse(await text(runTask({ kind: 'move', settings: { dataFolder, store } }))) as MoveResult;
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
    // Where it does not answer, the move says so.
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

/** Another archive lacks all that was moved to this store's. */
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
