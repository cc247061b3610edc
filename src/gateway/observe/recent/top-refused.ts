import { z } from 'zod';

/** Counts are kept per minute, for one hour. */
const SLOT_MS = 60_000;
const SLOTS = 60;
const LATEST_SLOTS = 5;
/** Counters per minute. With more callers, a new one replaces the one with the smallest count. */
const COUNTERS = 100;
/** Maximum number of rows that a process returns and the gateway shows. */
const ROWS = 100;

/** Whose exchanges were refused or failed, with which response, and how often. */
export const refusedCount = z.object({
  /** Null: no key was known. */
  keyId: z.string().nullable(),
  /** IP address, or IPv6 network; null where the key is known. */
  address: z.string().nullable(),
  status: z.number(),
  /** Null: the response was the upstream's own. */
  code: z.string().nullable(),
  /** Lower bounds: in the last five minutes, and in the last hour. */
  latest: z.number(),
  hour: z.number(),
});
export type RefusedCount = Readonly<z.output<typeof refusedCount>>;

type Refused = Omit<RefusedCount, 'latest' | 'hour'>;

interface Counter {
  readonly refused: Refused;
  count: number;
  /** The part of the count taken over from replaced callers: it may be theirs. */
  foreign: number;
}

interface Slot {
  readonly number: number;
  readonly counters: Map<string, Counter>;
}

/**
 * Finds the callers that one process refused most, with at most 60 × 100 counters: everyone above 1 % of a minute.
 * Space-Saving: Metwally et al., "Efficient computation of frequent and top-k elements in data streams".
 */
export class TopRefused {
  #slots: Slot[] = [];

  note(refused: Refused, nowMs: number): void {
    const { counters } = this.#slotAt(nowMs);
    const name = nameOf(refused);
    const counter = counters.get(name);
    if (counter !== undefined) counter.count += 1;
    else if (counters.size < COUNTERS) counters.set(name, { refused, count: 1, foreign: 0 });
    else replaceSmallest(counters, name, refused);
  }

  /** Returns the most frequent first. */
  counts(nowMs: number): readonly RefusedCount[] {
    const current = Math.floor(nowMs / SLOT_MS);
    return mergeRefused(
      this.#slots
        .filter(({ number }) => number > current - SLOTS)
        .flatMap(({ number, counters }) =>
          [...counters.values()].map(({ refused, count, foreign }) => {
            const hour = count - foreign;
            return { ...refused, latest: number > current - LATEST_SLOTS ? hour : 0, hour };
          }),
        ),
    );
  }

  /** After the clock steps back, the last slot continues; if by five minutes or more, later slots are dropped. */
  #slotAt(nowMs: number): Slot {
    const number = Math.floor(nowMs / SLOT_MS);
    const last = this.#slots.at(-1);
    if (last !== undefined && number <= last.number && number > last.number - LATEST_SLOTS) return last;
    const slot = { number, counters: new Map<string, Counter>() };
    this.#slots = [...this.#slots.filter((other) => other.number < number).slice(1 - SLOTS), slot];
    return slot;
  }
}

function replaceSmallest(counters: Map<string, Counter>, name: string, refused: Refused): void {
  let [smallestName, smallest] = ['', Infinity];
  for (const [one, { count }] of counters) if (count < smallest) [smallestName, smallest] = [one, count];
  counters.delete(smallestName);
  counters.set(name, { refused, count: smallest + 1, foreign: smallest });
}

/** Adds up the counts of several minutes or processes; the most frequent in the last five minutes come first. */
export function mergeRefused(counts: readonly RefusedCount[]): readonly RefusedCount[] {
  const merged = new Map<string, RefusedCount>();
  for (const one of counts) {
    const { latest = 0, hour = 0 } = merged.get(nameOf(one)) ?? {};
    merged.set(nameOf(one), { ...one, latest: one.latest + latest, hour: one.hour + hour });
  }
  return [...merged.values()]
    .filter(({ hour }) => hour > 0)
    .sort((one, other) => other.latest - one.latest || other.hour - one.hour)
    .slice(0, ROWS);
}

function nameOf({ keyId, address, status, code }: Refused): string {
  return `${status} ${code} ${keyId === null ? `address ${address}` : `key ${keyId}`}`;
}
