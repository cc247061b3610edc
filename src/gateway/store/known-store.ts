import { mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

/** The progress of a store when a gateway last trusted it. A store with less progress is an older one. */
export interface Progress {
  /** How often an operator accepted the store. */
  readonly accepted: number;
  /** By mark: the number of record changes, and of those that removed rights. */
  readonly marks: Readonly<Record<string, { readonly changes: number; readonly restrictions: number }>>;
}

/** Remembers the ID and the progress of the shared store. */
export interface KnownStore {
  /** Null if none is known yet. */
  read(): string | null;
  write(id: string): void;
  /** All zero if no store is known. */
  progress(): Progress;
  writeProgress(progress: Progress): void;
  /** ID of the store whose days are in the archive; null if it has none. Rejects if it cannot be asked. */
  archived(): Promise<string | null>;
}

const NO_ARCHIVE = (): Promise<null> => Promise.resolve(null);
const NO_PROGRESS: Progress = { accepted: 0, marks: {} };

/** Remembers the store in the data folder, for all processes on this machine. */
export function knownStoreIn(folder: string, archived: KnownStore['archived'] = NO_ARCHIVE): KnownStore {
  const [idFile, progressFile] = [join(folder, 'store-id'), join(folder, 'store-progress')];
  return {
    read: () => textIn(idFile)?.trim() || null,
    write: (id) => replace(folder, idFile, `${id}\n`),
    progress: () => {
      const text = textIn(progressFile);
      return text === null ? NO_PROGRESS : (JSON.parse(text) as Progress);
    },
    writeProgress: (progress) => replace(folder, progressFile, `${JSON.stringify(progress)}\n`),
    archived,
  };
}

/** Remembers the store in memory, for the lifetime of the process. */
export function knownStoreInMemory(): KnownStore {
  let [known, progress]: [string | null, Progress] = [null, NO_PROGRESS];
  return {
    read: () => known,
    write: (id) => void (known = id),
    progress: () => progress,
    writeProgress: (next) => void (progress = next),
    archived: NO_ARCHIVE,
  };
}

/** Returns `known` with writes that do nothing, for a process that only reads. */
export function readOnly(known: KnownStore): KnownStore {
  return { ...known, write: () => undefined, writeProgress: () => undefined };
}

function textIn(file: string): string | null {
  try {
    return readFileSync(file, 'utf8');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return null;
    throw error;
  }
}

/** Replaces the file atomically. */
function replace(folder: string, file: string, text: string): void {
  mkdirSync(folder, { recursive: true });
  const draft = `${file}.${process.pid}`;
  writeFileSync(draft, text, { flush: true });
  renameSync(draft, file);
}
