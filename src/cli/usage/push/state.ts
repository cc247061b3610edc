import { closeSync, fsyncSync, mkdirSync, openSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { CommandError } from '../../terminal/command-error.js';

/** Events in a file next to the state: those of a day, of the corrections, or of the amounts of a month. */
interface EventFile {
  /** Length; anything beyond was never sent. */
  readonly bytes: number;
  /** Up to this offset its events were acknowledged. */
  readonly sent: number;
  /** A day that became final without a gateway may grow until that gateway returns. */
  readonly growth?: 'possible' | 'over';
}

/** The progress of a push. */
interface PushState {
  readonly version: 3;
  /** All final days up to this one were acknowledged; null before the first. */
  readonly doneThrough: string | null;
  /** The range of days that is being pushed, from `day` on. */
  readonly running: { readonly from: string; readonly to: string; readonly day: string } | null;
  readonly files: Readonly<Record<string, EventFile>>;
  /** Corrections that version 0.3 sent: those made up to ten minutes before `to`, ISO 8601, and these event IDs. */
  readonly corrections: { readonly to: string; readonly ids: readonly string[] } | null;
  /** Amounts of all months up to this one were acknowledged; null before the first. */
  readonly amountsThrough: string | null;
}

const NOTHING: PushState = {
  version: 3,
  doneThrough: null,
  running: null,
  files: {},
  corrections: null,
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

  fileOf(topic: string): EventFile {
    return this.#state.files[topic] ?? { bytes: 0, sent: 0 };
  }

  /** Replaces the state atomically: after a crash it is the previous one or this one. */
  save(change: Partial<PushState>): void {
    this.#state = { ...this.#state, ...change };
    mkdirSync(dirname(this.path), { recursive: true });
    const fresh = `${this.path}.${process.pid}.tmp`;
    writeFileSync(fresh, `${JSON.stringify(this.#state)}\n`, { mode: 0o600, flush: true });
    renameSync(fresh, this.path);
    syncFolderOf(this.path);
  }

  /** Saves what changed in a file of events, null to forget the file. */
  saveFile(topic: string, change: Partial<EventFile> | null, more: Partial<PushState> = {}): void {
    const others = Object.entries(this.#state.files).filter(([other]) => other !== topic);
    const file = change === null ? [] : [[topic, { ...this.fileOf(topic), ...change }] as const];
    this.save({ files: Object.fromEntries([...others, ...file]), ...more });
  }
}

/** Returns the state in `file`; that of a first run if there is no file. */
function readState(file: string): PushState {
  let reason = '';
  try {
    const state = JSON.parse(readFileSync(file, 'utf8')) as (Omit<PushState, 'version'> & EarlierState) | null;
    if (state?.version === 3) return { ...NOTHING, ...state, version: 3 };
    if (state?.version === 2) {
      const { days, correctionBytes: bytes = 0, ...same } = state;
      const files = { ...days, ...(bytes === 0 ? {} : { corrections: { bytes, sent: bytes } }) };
      return { ...NOTHING, ...same, files, version: 3 };
    }
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return NOTHING;
    reason = `: ${String(error)}`;
  }
  throw new CommandError(
    `${file} is not a state of a push that this version can continue${reason}. Name another file with --state, or ` +
      'remove it and set --from: sending again does no harm.',
  );
}

interface EarlierState {
  readonly version: number;
  readonly days?: Readonly<Record<string, EventFile>>;
  readonly correctionBytes?: number;
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
