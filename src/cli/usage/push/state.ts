import { closeSync, fsyncSync, mkdirSync, openSync, readFileSync, renameSync, writeSync } from 'node:fs';
import { dirname } from 'node:path';
import { CommandError } from '../../command-error.js';

/** The range of days that is being pushed. */
interface Running {
  readonly from: string;
  readonly to: string;
  /** The current day. */
  readonly day: string;
}

/** A day whose events are in a journal: it is being pushed, or became final without a gateway. */
export interface PushedDay {
  /** Length of its journal; anything beyond was never sent. */
  readonly bytes: number;
  /** Up to this offset its events were acknowledged. */
  readonly sent: number;
  /** Whether it may grow: a day that became final without a gateway may grow until that gateway returns. */
  readonly growth: 'none' | 'possible' | 'over';
}

/** Corrections that version 0.3 sent: those made up to ten minutes before `to`, ISO 8601, and these event IDs. */
interface SentBefore {
  readonly to: string;
  readonly ids: readonly string[];
}

/** The progress of a push. */
interface PushState {
  readonly version: 2;
  /** All final days up to this one were acknowledged; null before the first. */
  readonly doneThrough: string | null;
  readonly running: Running | null;
  readonly days: Readonly<Record<string, PushedDay>>;
  /** Null once their ids are in the file of `correctionBytes`. */
  readonly corrections: SentBefore | null;
  /** Length of the file with the IDs of the acknowledged corrections. */
  readonly correctionBytes: number;
  /** Amounts of all months up to this one were acknowledged; null before the first. */
  readonly amountsThrough: string | null;
}

const NOTHING: PushState = {
  version: 2,
  doneThrough: null,
  running: null,
  days: {},
  corrections: null,
  correctionBytes: 0,
  amountsThrough: null,
};

/** The state of a push, kept in a file. */
export class StateFile {
  readonly path: string;
  #state: PushState;

  /** Throws CommandError if the file is not the state of a push. */
  constructor(path: string) {
    this.path = path;
    this.#state = readState(path);
  }

  get state(): PushState {
    return this.#state;
  }

  /** Replaces the file atomically: after a crash it has the previous state or this one. */
  save(change: Partial<PushState>): void {
    this.#state = { ...this.#state, ...change };
    mkdirSync(dirname(this.path), { recursive: true });
    const fresh = `${this.path}.${process.pid}.tmp`;
    const descriptor = openSync(fresh, 'w', 0o600);
    try {
      writeSync(descriptor, `${JSON.stringify(this.#state)}\n`);
      fsyncSync(descriptor);
    } finally {
      closeSync(descriptor);
    }
    renameSync(fresh, this.path);
    syncFolderOf(this.path);
  }

  /** Saves the state of a day. @param known null to forget the day */
  saveDay(day: string, known: PushedDay | null): void {
    const others = Object.entries(this.#state.days).filter(([other]) => other !== day);
    this.save({ days: Object.fromEntries(known === null ? others : [...others, [day, known]]) });
  }
}

/** Returns the state in `file`; that of a first run if there is no file. */
function readState(file: string): PushState {
  let text: string;
  try {
    text = readFileSync(file, 'utf8');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return NOTHING;
    throw new CommandError(`The state of the push in ${file} can't be read: ${String(error)}.`);
  }
  try {
    const state = JSON.parse(text) as (Partial<Omit<PushState, 'version'>> & { version: number; late?: object }) | null;
    if (state?.version === 2) return { ...NOTHING, ...state, version: 2 };
    // Version 0.2 had another journal format: an unfinished day is sent again, with the same IDs.
    if (state?.version === 1 && Object.keys(state.late ?? {}).length === 0)
      return { ...NOTHING, doneThrough: state.doneThrough ?? null };
  } catch {
    // Reported below.
  }
  throw new CommandError(
    `${file} is not a state of a push that this version can continue. Name another file with --state, or ` +
      'remove it and set --from: sending again does no harm.',
  );
}

/** Syncs the folder of `file`, so that its name survives a crash. */
export function syncFolderOf(file: string): void {
  const folder = openSync(dirname(file), 'r');
  try {
    fsyncSync(folder);
  } finally {
    closeSync(folder);
  }
}
