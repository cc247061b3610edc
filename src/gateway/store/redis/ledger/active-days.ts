import type { Link } from '../link/link.js';
import { loadScript } from '../link/script.js';
import { keyName } from '../names.js';

/**
 * On which days a key was active stands beside its record, as the field `days`: numbers of UTC days, two bytes each,
 * in no order. The count of a day and its entry are one step on one node, so that there is never a count without
 * one; an entry whose ledger is gone costs a look. With `MAX_DAYS` entries (62 bytes: Redis keeps hashes with
 * longer fields in a larger form) the earliest gives way, and says nothing of the days before those that are left.
 */
export const MAX_DAYS = 31;
const DAY_BYTES = 2;

const READ_ACTIVE_DAYS = loadScript('ledger/read-active-days');

/** The days entered with a key. */
class ActiveDays {
  readonly #days: ReadonlySet<number>;
  /** Of days before it nothing is known. */
  readonly #from: number;

  constructor(days: readonly number[]) {
    this.#days = new Set(days);
    this.#from = days.length < MAX_DAYS ? -Infinity : Math.min(...days);
  }

  /** `unknown`: the ledger of this day may be there all the same. */
  on(day: number): 'active' | 'idle' | 'unknown' {
    if (this.#days.has(day)) return 'active';
    return day < this.#from ? 'unknown' : 'idle';
  }
}

/** The days entered with these keys, in their order. */
export async function activeDays(link: Link, ids: readonly string[]): Promise<readonly ActiveDays[]> {
  const names = ids.map(keyName);
  if (link.cluster)
    return Promise.all(
      names.map(async (name) => {
        const days = (await link.command('hget', name, 'days')) as Buffer | null;
        return daysIn(days ?? Buffer.alloc(0), 0, (days?.length ?? 0) / DAY_BYTES);
      }),
    );
  const answer = await link.run(READ_ACTIVE_DAYS, names, []);
  let at = 0;
  return ids.map(() => {
    const count = answer.readUInt8(at);
    const days = daysIn(answer, at + 1, count);
    at += 1 + count * DAY_BYTES;
    return days;
  });
}

function daysIn(bytes: Buffer, at: number, count: number): ActiveDays {
  return new ActiveDays(Array.from({ length: count }, (_, n) => bytes.readUInt16LE(at + n * DAY_BYTES)));
}
