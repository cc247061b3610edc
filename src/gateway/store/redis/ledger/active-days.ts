import type { Link } from '../link/link.js';
import { archivedField, isArchived } from './archived-days.js';
import { loadScript } from '../link/script.js';
import { keyName } from '../keyspace/names.js';

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
interface ActiveDays {
  /** Returns whether the key was active on a day; if `unknown`, its ledger may exist. */
  on(day: number): 'active' | 'idle' | 'unknown';
  /** Returns whether the archive has the day, which must be in a requested chunk. */
  isArchived(day: number): boolean;
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
        return daysOf(days, new Map(chunks.map((chunk, n) => [chunk, bits[n]!])));
      }),
    );
  const answer = await link.run(READ_ACTIVE_DAYS, names, chunks);
  let at = 0;
  const take = (size: number): Buffer => {
    const length = answer.readUInt8(at) * size;
    at += 1 + length;
    return answer.subarray(at - length, at);
  };
  return ids.map(() => daysOf(take(DAY_BYTES), new Map(chunks.map((chunk) => [chunk, take(1)]))));
}

/** @param entered two bytes per day */
function daysOf(entered: Buffer, archived: ReadonlyMap<string, Buffer>): ActiveDays {
  const days = Array.from({ length: entered.length / DAY_BYTES }, (_, n) => entered.readUInt16LE(n * DAY_BYTES));
  const active = new Set(days);
  // Nothing is known about earlier days.
  const from = days.length < MAX_DAYS ? -Infinity : Math.min(...days);
  const idle = (day: number): 'idle' | 'unknown' => (day < from ? 'unknown' : 'idle');
  return {
    on: (day) => (active.has(day) ? 'active' : idle(day)),
    isArchived: (day) => isArchived(archived, day),
  };
}
