import { mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

/** Where the id of the shared store is remembered from one start to the next. */
export interface KnownId {
  /** null: none yet. */
  read(): string | null;
  write(id: string): void;
  /** The id of the store whose days are in the archive; null where it knows none. Rejects while it can't be asked. */
  archived(): Promise<string | null>;
}

const NO_ARCHIVE = (): Promise<null> => Promise.resolve(null);

/** In the data folder, for all processes of the machine. */
export function knownIdIn(folder: string, archived: KnownId['archived'] = NO_ARCHIVE): KnownId {
  const file = join(folder, 'store-id');
  return {
    read: () => {
      try {
        return readFileSync(file, 'utf8').trim() || null;
      } catch (error) {
        if ((error as NodeJS.ErrnoException).code === 'ENOENT') return null;
        throw error;
      }
    },
    write: (id) => {
      mkdirSync(folder, { recursive: true });
      // Nobody ever reads half of it.
      const draft = `${file}.${process.pid}`;
      writeFileSync(draft, `${id}\n`, { flush: true });
      renameSync(draft, file);
    },
    archived,
  };
}

/** For as long as the process lives. */
export function knownIdInMemory(): KnownId {
  let known: string | null = null;
  return { read: () => known, write: (id) => void (known = id), archived: NO_ARCHIVE };
}
