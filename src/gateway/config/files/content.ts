import { createHash } from 'node:crypto';
import { createReadStream, readFileSync, statSync } from 'node:fs';

/** A file that changed this recently may change again without a new change time. */
const SETTLED_MS = 2_000;
const GONE = 'unreadable';

interface Known {
  readonly stamp: string;
  readonly hash: string;
}

/**
 * Returns a stamp that changes when the file does, without reading it. While the last change is recent, every call
 * returns a new stamp.
 */
export function stampOf(file: string): string {
  try {
    const { dev, ino, size, mtimeNs, ctimeNs, ctimeMs } = statSync(file, { bigint: true });
    const isSettled = Date.now() - Number(ctimeMs) > SETTLED_MS;
    return [dev, ino, size, mtimeNs, ctimeNs, isSettled ? '' : performance.now()].join(' ');
  } catch {
    return GONE;
  }
}

/** Returns the time of a file's last change in Unix ms; 0 if it cannot be read, or if the time is in the future. */
export function changedMs(file: string): number {
  try {
    const { mtimeMs } = statSync(file);
    return mtimeMs > Date.now() ? 0 : mtimeMs;
  } catch {
    return 0;
  }
}

/** Hashes the contents of files, to detect changes. A file with an unchanged stamp is not read again. */
export class Contents {
  readonly #known = new Map<string, Known>();

  /** Reads synchronously, because no requests are served yet. */
  first(files: readonly string[]): string {
    return files.map((file) => this.#keep(file, stampOf(file), hashNow(file))).join(' ');
  }

  /** Reads files in pieces, so that a large one does not block the event loop. */
  async of(files: readonly string[]): Promise<string> {
    const hashes: string[] = [];
    for (const file of files) {
      const stamp = stampOf(file);
      const known = this.#known.get(file);
      hashes.push(known?.stamp === stamp ? known.hash : this.#keep(file, stamp, await hashInPieces(file)));
    }
    return hashes.join(' ');
  }

  #keep(file: string, stamp: string, hash: string): string {
    this.#known.set(file, { stamp, hash });
    return hash;
  }
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
