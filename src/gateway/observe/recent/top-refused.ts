/** A count for each minute of the last hour. */
const SLOT_MS = 60_000;
const SLOTS = 60;
const LATEST_SLOTS = 5;
/** Counters per minute. With more callers, a new one replaces the one with the smallest count. */
const COUNTERS = 100;
/** Rows that a process gives, and a gateway shows. */
const ROWS = 100;

/** Whose exchanges were refused or failed, with which response, and how often. */
export interface RefusedCount {
  /** Null: no key was known. */
  readonly keyId: string | null;
  /** IP address, or IPv6 network; null where the key is known. */
  readonly address: string | null;
  readonly status: number;
  /** Null: the response was the upstream's own. */
  readonly code: string | null;
  /** At least as many, in the last five minutes and in the last hour. */
  readonly latest: number;
  readonly hour: number;
}

type Refused = Omit<RefusedCount, 'latest' | 'hour'>;

interface Counter {
  readonly refused: Refused;
  count: number;
  /** What it took over from others: so much of the count may be theirs. */
  foreign: number;
}

interface Slot {
  readonly number: number;
  readonly counters: Map<string, Counter>;
}

/**
 * The callers that one process refused most, in at most 60 × 100 counters. Metwally et al., "Efficient computation of
 * frequent and top-k elements in data streams" (Space-Saving): it finds every caller with more than 1 % of a minute.
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

  /** The most frequent first. */
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

  /** A clock that steps back counts into the last minute; by more than five, later ones were never true. */
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

/** Counts of several minutes or processes, added up. The most frequent in the last five minutes first. */
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
