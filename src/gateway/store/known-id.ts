import { mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

/** Where the id of the shared store is remembered from one start to the next. */
export interface KnownId {
  /** null: none yet. */
  read(): string | null;
  write(id: string): void;
}

/** In the data folder, for all processes of the machine. */
export function knownIdIn(folder: string): KnownId {
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
  };
}

/** For as long as the process lives. */
export function knownIdInMemory(): KnownId {
  let known: string | null = null;
  return { read: () => known, write: (id) => void (known = id) };
}
