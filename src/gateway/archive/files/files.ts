import { randomUUID } from 'node:crypto';
import { linkSync, mkdirSync, readdirSync, readFileSync, rmSync, statSync, utimesSync, writeFileSync } from 'node:fs';
import { open } from 'node:fs/promises';
import { join } from 'node:path';
import type { UsageRow } from '../../admission/port.js';
import { mergeByKey } from '../merge.js';
import { ArchiveDamaged, ArchiveUnavailable } from '../errors.js';
import type { Archive, DayState, Part } from '../port.js';
import type { Seal } from '../seal.js';
import { checkDay, readDay, writeDay } from './day-file.js';

const DAY_FILE = /^(\d{4}-\d{2}-\d{2})\.tsv$/;
/** Whoever is at work says so in the lock; one that was silent for longer is gone. */
const BEAT_MS = 5_000;
const SILENT_MS = 60_000;

/**
 * The archive in a folder: `2026-11-21.tsv` for each day, beside it `2026-11-21.moved` once the store let go of it.
 * What is under way stands in `work`, so that the folder itself changes only with its days.
 * Throws ArchiveUnavailable when the folder can't be used.
 */
export function openFileArchive(folder: string): Archive {
  try {
    mkdirSync(join(folder, 'work'), { recursive: true, mode: 0o700 });
    return new FileArchive(folder, idIn(join(folder, 'work', 'id')));
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    throw new ArchiveUnavailable(`The archive of the ledger in ${folder} can't be used (${reason}).`, { cause: error });
  }
}

class FileArchive implements Archive {
  readonly kind = 'files';
  readonly id: string;
  readonly #folder: string;

  constructor(folder: string, id: string) {
    this.#folder = folder;
    this.id = id;
  }

  version(): Promise<string> {
    return Promise.resolve(statSync(this.#folder, { bigint: true }).mtimeNs.toString());
  }

  days(): Promise<ReadonlyMap<string, DayState>> {
    const names = new Set(readdirSync(this.#folder));
    const days = [...names].flatMap((name) => DAY_FILE.exec(name)?.[1] ?? []).sort();
    return Promise.resolve(new Map(days.map((day) => [day, names.has(`${day}.moved`) ? 'moved' : 'held'])));
  }

  rows(days: readonly string[], part: Part): AsyncIterable<readonly UsageRow[]> {
    return mergeByKey(days.map((day) => readDay(this.#path(day), day, part)));
  }

  async add(day: string, rows: AsyncIterable<readonly UsageRow[]>): Promise<boolean> {
    const draft = join(this.#folder, 'work', `${day}.${process.pid}`);
    try {
      const { sha256 } = await writeDay(draft, day, rows);
      if ((await checkDay(draft, day)).sha256 !== sha256)
        throw new ArchiveDamaged(`What was written of ${day} is not what was read back.`);
      // A link, not a rename: it never takes the place of a day that is there.
      linkSync(draft, this.#path(day));
      await this.#sync();
      return true;
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === 'EEXIST') return false;
      throw error;
    } finally {
      rmSync(draft, { force: true });
    }
  }

  async setState(day: string, state: DayState): Promise<void> {
    const mark = join(this.#folder, `${day}.moved`);
    if (state === 'moved') writeFileSync(mark, '', { mode: 0o600 });
    else rmSync(mark, { force: true });
    await this.#sync();
  }

  verify(day: string): Promise<Seal> {
    return checkDay(this.#path(day), day).catch((error: unknown) => {
      throw (error as NodeJS.ErrnoException).code === 'ENOENT'
        ? new ArchiveDamaged(`${this.#path(day)} is missing.`)
        : error;
    });
  }

  async drop(day: string): Promise<void> {
    await this.setState(day, 'held');
    rmSync(this.#path(day), { force: true });
    await this.#sync();
  }

  pausedUntilMs(): Promise<number> {
    return Promise.resolve(Number(textIn(join(this.#folder, 'work', 'paused')) ?? 0));
  }

  pause(untilMs: number): Promise<void> {
    writeFileSync(join(this.#folder, 'work', 'paused'), String(untilMs));
    return Promise.resolve();
  }

  /** Two at once would do no harm, only the work twice: so a lock that is left behind is simply taken over. */
  async alone<T>(work: () => Promise<T>): Promise<T | undefined> {
    const lock = join(this.#folder, 'work', 'lock');
    const age = Date.now() - (statSync(lock, { throwIfNoEntry: false })?.mtimeMs ?? 0);
    if (age < SILENT_MS && isAlive(Number(textIn(lock)))) return undefined;
    writeFileSync(lock, String(process.pid));
    const beat = setInterval(() => utimesSync(lock, new Date(), new Date()), BEAT_MS).unref();
    try {
      return await work();
    } finally {
      clearInterval(beat);
      rmSync(lock, { force: true });
    }
  }

  close(): Promise<void> {
    return Promise.resolve();
  }

  #path(day: string): string {
    return join(this.#folder, `${day}.tsv`);
  }

  /** Makes the names in the folder durable. */
  async #sync(): Promise<void> {
    const folder = await open(this.#folder, 'r');
    await folder.sync().finally(() => folder.close());
  }
}

function idIn(path: string): string {
  const draft = `${path}.${process.pid}`;
  try {
    if (textIn(path) === undefined) {
      writeFileSync(draft, randomUUID(), { mode: 0o600 });
      linkSync(draft, path);
    }
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
  } finally {
    rmSync(draft, { force: true });
  }
  return readFileSync(path, 'utf8');
}

function textIn(path: string): string | undefined {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return undefined;
  }
}

function isAlive(pid: number): boolean {
  if (!(pid > 0) || pid === process.pid) return false;
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM';
  }
}
