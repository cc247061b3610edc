import { createHash } from 'node:crypto';
import { mkdir, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { deserialize, serialize } from 'node:v8';
import { withoutOn, type Missing } from '../../store/finality.js';
import type { DayRows, Label, Names } from './day-rows.js';

/** Changes with the form of the files. */
const FORMAT = 1;
const HASH_BYTES = 32;

/** A final day as it was read. */
export interface CachedDay {
  readonly rows: DayRows;
  readonly readAtMs: number;
  /** What the counts depend on: see `originOf`. */
  readonly origin: string;
}

/** Content of a file: rows have the numbers of the names next to them. */
interface Content extends CachedDay {
  readonly keys: readonly string[];
  readonly labels: readonly Label[];
}

/**
 * Returns what a final day's counts depend on. If it differs, they may have changed: the store is another one, counts
 * were raised, or a gateway whose counts were missing came back.
 * @param revision of the store
 */
export function originOf(revision: string, day: string, without: readonly Missing[]): string {
  const seen = without.map((each) => ({ ...each, gateway: `${each.gateway}@${each.seenMs}` }));
  return `${FORMAT} ${day} ${revision} ${withoutOn(day, seen)}`;
}

/**
 * Keeps final days in files of the data folder, one for each day: SHA-256, then the day. A file that is missing,
 * damaged or of another origin only costs another reading of the ledger, so errors are ignored, and several processes
 * may share the folder.
 */
export class DayFiles {
  readonly #folder: string;
  /** Changes run one after the other; a disk that hangs delays only them. */
  #changed: Promise<unknown> = Promise.resolve();

  /** @param data the data folder */
  constructor(data: string) {
    this.#folder = join(data, 'usage-days');
  }

  /** Returns null if there is no intact file of this origin. */
  async read(day: string, origin: string, names: Names): Promise<CachedDay | null> {
    try {
      const bytes = await readFile(join(this.#folder, day));
      const packed = bytes.subarray(HASH_BYTES);
      if (!hashOf(packed).equals(bytes.subarray(0, HASH_BYTES))) return null;
      const content = deserialize(packed) as Content;
      if (content.origin !== origin) return null;
      const { keys, labels, rows, readAtMs } = content;
      const [keyNumbers, labelNumbers] = [keys.map((key) => names.key(key)), labels.map((label) => names.label(label))];
      const own = {
        keys: rows.keys.map((n) => keyNumbers[n]!),
        labels: rows.labels.map((n) => labelNumbers[n]!),
      };
      return { rows: { ...rows, ...own }, readAtMs, origin };
    } catch {
      return null;
    }
  }

  write(day: string, { rows, readAtMs, origin }: CachedDay, names: Names): void {
    const [keys, labels] = [numbered(rows.keys), numbered(rows.labels)];
    const content: Content = {
      ...{ readAtMs, origin, rows: { ...rows, keys: keys.indexes, labels: labels.indexes } },
      keys: keys.used.map((n) => names.keys[n]!),
      labels: labels.used.map((n) => names.labels[n]!),
    };
    const packed = serialize(content);
    this.#change(async () => {
      await mkdir(this.#folder, { recursive: true, mode: 0o700 });
      await writeFile(join(this.#folder, day), Buffer.concat([hashOf(packed), packed]), { mode: 0o600 });
    });
  }

  remove(day: string): void {
    this.#change(() => rm(join(this.#folder, day), { force: true }));
  }

  /** Removes the files of days before `first`. */
  keepFrom(first: string): void {
    this.#change(async () => {
      const days = await readdir(this.#folder);
      await Promise.all(days.filter((day) => day < first).map((day) => rm(join(this.#folder, day), { force: true })));
    });
  }

  #change(change: () => Promise<unknown>): void {
    this.#changed = this.#changed.then(change).catch(() => undefined);
  }
}

function hashOf(bytes: Uint8Array): Buffer {
  return createHash('sha256').update(bytes).digest();
}

/** Returns the distinct numbers, and the index of each number among them. */
function numbered(numbers: Uint32Array): { readonly used: readonly number[]; readonly indexes: Uint32Array } {
  const used = [...new Set(numbers)];
  const indexes = new Map(used.map((n, index) => [n, index]));
  return { used, indexes: numbers.map((n) => indexes.get(n)!) };
}
