import { mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

/** How far a store had got when a gateway last trusted it. A store that has got less far is an older state of it. */
export interface Progress {
  /** How often an operator accepted the store as it was. */
  readonly accepted: number;
  /** By mark: how many changes of records it had counted, and how many of them took rights away. */
  readonly marks: Readonly<Record<string, { readonly changes: number; readonly restrictions: number }>>;
}

/** Where the id of the shared store is remembered from one start to the next. */
export interface KnownStore {
  /** null: none yet. */
  read(): string | null;
  write(id: string): void;
  /** Nothing counted where none is known. */
  progress(): Progress;
  writeProgress(progress: Progress): void;
  /** The id of the store whose days are in the archive; null where it knows none. Rejects while it can't be asked. */
  archived(): Promise<string | null>;
}

const NO_ARCHIVE = (): Promise<null> => Promise.resolve(null);
const NO_PROGRESS: Progress = { accepted: 0, marks: {} };

/** In the data folder, for all processes of the machine. */
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

/** For as long as the process lives. */
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

/** What the file says is kept; what is learnt lives as long as the process: for one that only reads. */
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

/** Nobody ever reads half of it. */
function replace(folder: string, file: string, text: string): void {
  mkdirSync(folder, { recursive: true });
  const draft = `${file}.${process.pid}`;
  writeFileSync(draft, text, { flush: true });
  renameSync(draft, file);
}
