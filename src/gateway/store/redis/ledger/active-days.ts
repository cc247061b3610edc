import type { Link } from '../link/link.js';
import { archivedField, isArchived } from './archived-days.js';
import { loadScript } from '../link/script.js';
import { keyName } from '../names.js';

/**
 * Maximum number of active days that a key remembers. They are in the field `days` next to its record: numbers of UTC
 * days, two bytes each, unordered. A day's count and its entry are written in one step on one node, so no count lacks
 * an entry; an entry whose ledger is gone only costs a lookup. Beyond `MAX_DAYS` entries (62 bytes: Redis keeps hashes
 * with longer fields in a larger form) the earliest is dropped, and days before the remaining ones are unknown.
 */
export const MAX_DAYS = 31;
const DAY_BYTES = 2;

const READ_ACTIVE_DAYS = loadScript('ledger/read-active-days');

/** The days entered in a key. */
class ActiveDays {
  readonly #days: ReadonlySet<number>;
  /** Nothing is known about earlier days. */
  readonly #from: number;
  readonly #archived: ReadonlyMap<string, Buffer>;

  constructor(days: readonly number[], archived: ReadonlyMap<string, Buffer>) {
    this.#archived = archived;
    this.#days = new Set(days);
    this.#from = days.length < MAX_DAYS ? -Infinity : Math.min(...days);
  }

  /** Returns whether the key was active on a day; if `unknown`, its ledger may exist. */
  on(day: number): 'active' | 'idle' | 'unknown' {
    if (this.#days.has(day)) return 'active';
    return day < this.#from ? 'unknown' : 'idle';
  }

  /** Returns whether the archive has the day, which must be in a requested chunk. */
  isArchived(day: number): boolean {
    return isArchived(this.#archived, day);
  }
}

/**
 * Reads the days entered in these keys, in their order.
 * @param chunks those for whose days `isArchived` will be asked
 */
export async function activeDays(
  link: Link,
  ids: readonly string[],
  chunks: readonly string[],
): Promise<readonly ActiveDays[]> {
  const names = ids.map(keyName);
  if (link.cluster)
    return Promise.all(
      names.map(async (name) => {
        const fields = ['days', ...chunks.map(archivedField)];
        const found = (await link.command('hmget', name, ...fields)) as readonly (Buffer | null)[];
        const [days, ...bits] = found.map((each) => each ?? Buffer.alloc(0)) as [Buffer, ...Buffer[]];
        return new ActiveDays(daysIn(days), new Map(chunks.map((chunk, n) => [chunk, bits[n]!])));
      }),
    );
  const answer = await link.run(READ_ACTIVE_DAYS, names, chunks);
  let at = 0;
  const take = (size: number): Buffer => {
    const length = answer.readUInt8(at) * size;
    at += 1 + length;
    return answer.subarray(at - length, at);
  };
  return ids.map(() => new ActiveDays(daysIn(take(DAY_BYTES)), new Map(chunks.map((chunk) => [chunk, take(1)]))));
}

function daysIn(bytes: Buffer): readonly number[] {
  return Array.from({ length: bytes.length / DAY_BYTES }, (_, n) => bytes.readUInt16LE(n * DAY_BYTES));
}
