import { closeSync, fsyncSync, mkdirSync, openSync, readFileSync, renameSync, writeSync } from 'node:fs';
import { dirname } from 'node:path';
import { Failure } from './failure.js';

/** A range whose rows are being handed over, key by key. */
export interface RunningRange {
  readonly from: string;
  readonly to: string;
  /** The last key all of whose rows were acknowledged; null before the first. */
  readonly after: string | null;
  /** The last final day when it was begun: later ones may have grown since. */
  readonly finalDay: string;
}

/** How far a push has come. */
export interface PushState {
  readonly version: 1;
  /** All final days up to this one were acknowledged; null before the first. */
  readonly doneThrough: string | null;
  /** What was begun and not ended. */
  readonly running: RunningRange | null;
}

const NOTHING: PushState = { version: 1, doneThrough: null, running: null };

/** The state in `file`; that of a first run when there is none. Throws Failure for a file that is something else. */
export function readState(file: string): PushState {
  let text: string;
  try {
    text = readFileSync(file, 'utf8');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return NOTHING;
    throw new Failure(`The state of the push in ${file} can't be read: ${String(error)}.`);
  }
  try {
    const state = JSON.parse(text) as PushState | { readonly version?: unknown } | null;
    if (state?.version === 1) return state as PushState;
  } catch {
    // Told below, as for any other foreign file.
  }
  throw new Failure(`${file} holds no state of a push. Name another file with --state, or remove it and say with --from where to begin: sending again does no harm.`);
}

/** Writes the state so that after any crash the file holds the old one or this one, whole. */
export function writeState(file: string, state: PushState): void {
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
  const folder = openSync(dirname(file), 'r');
  try {
    fsyncSync(folder);
  } finally {
    closeSync(folder);
  }
}
