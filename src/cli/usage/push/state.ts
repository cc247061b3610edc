import { closeSync, fsyncSync, mkdirSync, openSync, readFileSync, renameSync, writeSync } from 'node:fs';
import { dirname } from 'node:path';
import { CommandError } from '../../command-error.js';

/** A range whose rows are being handed over, key by key. */
export interface RunningRange {
  readonly from: string;
  readonly to: string;
  /** The last key all of whose rows were acknowledged; null before the first. */
  readonly after: string | null;
  /** The last final day when it was started: later ones may have grown since. */
  readonly finalDay: string;
}

/** A day that became final without a gateway: it may grow after it was sent. */
export interface LateDay {
  /** Number of its journal, which records what is sent of it; 0 before there is one. */
  readonly journal: number;
  /** What the next push sends of it: `all` of its events, `more` that came since, or `nothing`, for it grows no more. */
  readonly due: 'all' | 'more' | 'nothing';
}

/** How far a push has come. */
interface PushState {
  readonly version: 1;
  /** All final days up to this one were acknowledged; null before the first. */
  readonly doneThrough: string | null;
  /** The range that is not finished yet. */
  readonly running: RunningRange | null;
  /** Days that are sent from journals, not from the ledger. */
  readonly late: Readonly<Record<string, LateDay>>;
  /** The day whose journal is being handed over, and the last key that was acknowledged. All other journals were. */
  readonly sending: { readonly day: string; readonly after: string | null } | null;
}

const NOTHING: PushState = { version: 1, doneThrough: null, running: null, late: {}, sending: null };

/** The state of a push, kept in a file. */
export class StateFile {
  readonly path: string;
  #state: PushState;

  /** Throws CommandError for a file that is something else. */
  constructor(path: string) {
    this.path = path;
    this.#state = readState(path);
  }

  get state(): PushState {
    return this.#state;
  }

  /** After any crash the file holds the state before or this one, whole. */
  save(change: Partial<PushState>): void {
    this.#state = { ...this.#state, ...change };
    writeState(this.path, this.#state);
  }
}

/** The state in `file`; that of a first run when there is none. */
function readState(file: string): PushState {
  let text: string;
  try {
    text = readFileSync(file, 'utf8');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return NOTHING;
    throw new CommandError(`The state of the push in ${file} can't be read: ${String(error)}.`);
  }
  try {
    const state = JSON.parse(text) as Partial<PushState> | null;
    if (state?.version === 1) return { ...NOTHING, ...state };
  } catch {
    // Reported below, as for any other foreign file.
  }
  throw new CommandError(
    `${file} holds no state of a push. Name another file with --state, or remove it and say with --from where to begin: sending again does no harm.`,
  );
}

function writeState(file: string, state: PushState): void {
  mkdirSync(dirname(file), { recursive: true });
  const fresh = `${file}.${process.pid}.tmp`;
  const descriptor = openSync(fresh, 'w', 0o600);
  try {
    writeSync(descriptor, `${JSON.stringify(state)}\n`);
    fsyncSync(descriptor);
  } finally {
    closeSync(descriptor);
  }
  renameSync(fresh, file);
  keepFolder(file);
}

/** Makes the names in the folder of `file` survive a crash. */
export function keepFolder(file: string): void {
  const folder = openSync(dirname(file), 'r');
  try {
    fsyncSync(folder);
  } finally {
    closeSync(folder);
  }
}
