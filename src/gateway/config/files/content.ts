import { createHash } from 'node:crypto';
import { createReadStream, readFileSync, statSync } from 'node:fs';

/** A file that changed within this time may change once more without a new time of change. */
const SETTLED_MS = 2_000;
const GONE = 'unreadable';

interface Known {
  readonly stamp: string;
  readonly hash: string;
}

/** Changes with the file, without reading it; another each time while the file has only just changed. */
export function stampOf(file: string): string {
  try {
    const { dev, ino, size, mtimeNs, ctimeNs, ctimeMs } = statSync(file, { bigint: true });
    const isSettled = Date.now() - Number(ctimeMs) > SETTLED_MS;
    return [dev, ino, size, mtimeNs, ctimeNs, isSettled ? '' : performance.now()].join(' ');
  } catch {
    return GONE;
  }
}

/** Unix ms of a file's last change; 0 of one that cannot be read, and of one that claims to be of the future. */
export function changedMs(file: string): number {
  try {
    const { mtimeMs } = statSync(file);
    return mtimeMs > Date.now() ? 0 : mtimeMs;
  } catch {
    return 0;
  }
}

/** What is in files, to see whether it has changed. One whose stamp is as it was is not read again. */
export class Contents {
  readonly #known = new Map<string, Known>();

  /** At once, before anybody is served. */
  first(files: readonly string[]): string {
    return summed(
      files.map((file) => {
        const stamp = stampOf(file);
        return this.#keep(file, stamp, hashNow(file));
      }),
    );
  }

  /** A piece of a file at a time, so that a large one holds up nobody. */
  async of(files: readonly string[]): Promise<string> {
    const hashes: string[] = [];
    for (const file of files) {
      const stamp = stampOf(file);
      const known = this.#known.get(file);
      hashes.push(known?.stamp === stamp ? known.hash : this.#keep(file, stamp, await hashInPieces(file)));
    }
    return summed(hashes);
  }

  #keep(file: string, stamp: string, hash: string): string {
    this.#known.set(file, { stamp, hash });
    return hash;
  }
}

function summed(hashes: readonly string[]): string {
  return hashes.join(' ');
}

function hashNow(file: string): string {
  try {
    return createHash('sha256').update(readFileSync(file)).digest('base64');
  } catch {
    return GONE;
  }
}

async function hashInPieces(file: string): Promise<string> {
  const hash = createHash('sha256');
  try {
    for await (const piece of createReadStream(file)) hash.update(piece as Buffer);
    return hash.digest('base64');
  } catch {
    return GONE;
  }
}
