import type { Exchange } from '../../exchange.js';
import { recentOf, type RecentExchange } from './exchange.js';
import { TopRefused, type RefusedCount } from './top-refused.js';

/** Maximum number of refused or failed exchanges. */
const MAX_REFUSED = 20_000;
/** Maximum number of these per key or address. */
const MAX_OF_ONE = 50;
/** Maximum number of other exchanges. */
const MAX_OTHERS = 1_000;
/** Others recorded per second: recording all of them under load would double the cost of garbage collection. */
const OTHERS_A_SECOND = 100;
/** Maximum per lookup: a client may send the same X-Request-Id with every request. */
const MAX_FOUND = 50;

/** Asks for one X-Request-Id, for the refused and failed exchanges of one key, or for the callers refused most. */
export type Question = { readonly request: string } | { readonly key: string } | { readonly topRefused: true };

/** The result of a `Question`: exchanges, latest first, or counts, largest first. */
export interface Remembered {
  readonly exchanges: readonly RecentExchange[];
  readonly refused: readonly RefusedCount[];
}

/** The last `max` exchanges, in no particular order. */
class Ring {
  readonly #exchanges: RecentExchange[] = [];
  readonly #max: number;
  #next = 0;
  /** Whether the caller came again since `forget` last considered it. */
  cameAgain = false;

  constructor(max: number) {
    this.#max = max;
  }

  /** Returns true if the ring has grown, false if the oldest exchange was overwritten. */
  add(exchange: RecentExchange): boolean {
    const isMore = this.#exchanges.length < this.#max;
    this.#exchanges[this.#next] = exchange;
    this.#next = this.#next + 1 === this.#max ? 0 : this.#next + 1;
    return isMore;
  }

  all(): readonly RecentExchange[] {
    return this.#exchanges;
  }
}

/** One ring per key, or per address. */
class Callers {
  readonly #rings = new Map<string, Ring>();
  /** Continues where it stopped: a new iterator would have to skip all deleted entries. */
  #oldest = this.#rings.entries();
  count = 0;

  add(who: string, exchange: RecentExchange): void {
    let ring = this.#rings.get(who);
    if (ring === undefined) this.#rings.set(who, (ring = new Ring(MAX_OF_ONE)));
    else ring.cameAgain = true;
    if (ring.add(exchange)) this.count += 1;
  }

  of(who: string): readonly RecentExchange[] {
    return this.#rings.get(who)?.all() ?? [];
  }

  all(): readonly Ring[] {
    return [...this.#rings.values()];
  }

  /** Forgets the oldest caller that has not come again; those that have get a second round. */
  forget(): void {
    for (;;) {
      const { value: next } = this.#oldest.next();
      if (next === undefined) {
        this.#oldest = this.#rings.entries();
        continue;
      }
      const [who, ring] = next;
      this.#rings.delete(who);
      if (!ring.cameAgain) {
        this.count -= ring.all().length;
        return;
      }
      ring.cameAgain = false;
      this.#rings.set(who, ring);
    }
  }
}

/**
 * Keeps the last exchanges of this process, to explain why a request was refused. A busy caller pushes out only its
 * own. When full, the larger group (keys or addresses) loses a caller: neither pushes the other below half.
 */
export class RecentExchanges {
  readonly #keys = new Callers();
  readonly #addresses = new Callers();
  readonly #others = new Ring(MAX_OTHERS);
  readonly #topRefused = new TopRefused();
  readonly #now: () => number;
  #second = 0;
  #othersInSecond = 0;

  constructor(now: () => number = Date.now) {
    this.#now = now;
  }

  /** @param isRefused true also if it failed */
  note(exchange: Exchange, status: number, totalMs: number, isRefused: boolean): void {
    if (!isRefused && !this.#hasRoom()) return;
    const recent = recentOf(exchange, status, totalMs);
    if (!isRefused) {
      this.#others.add(recent);
      return;
    }
    const { keyId, code } = recent;
    const address = keyId === null ? exchange.addressBucket : null;
    this.#topRefused.note({ keyId, address, status, code }, this.#now());
    if (keyId === null) this.#addresses.add(exchange.addressBucket, recent);
    else this.#keys.add(keyId, recent);
    if (this.#keys.count + this.#addresses.count > MAX_REFUSED)
      (this.#addresses.count > this.#keys.count ? this.#addresses : this.#keys).forget();
  }

  #hasRoom(): boolean {
    const second = Math.floor(this.#now() / 1000);
    if (second !== this.#second) {
      this.#second = second;
      this.#othersInSecond = 0;
    }
    this.#othersInSecond += 1;
    return this.#othersInSecond <= OTHERS_A_SECOND;
  }

  answer(question: Question): Remembered {
    if ('topRefused' in question) return { exchanges: [], refused: this.#topRefused.counts(this.#now()) };
    return { exchanges: this.#find(question), refused: [] };
  }

  #find(question: Exclude<Question, { readonly topRefused: true }>): readonly RecentExchange[] {
    if ('key' in question) return newest(this.#keys.of(question.key));
    const rings = [this.#others, ...this.#keys.all(), ...this.#addresses.all()];
    return newest(rings.flatMap((ring) => ring.all().filter(({ id }) => id === question.request)));
  }
}

/** Returns the latest exchanges first, at most 50. */
export function newest(exchanges: readonly RecentExchange[]): readonly RecentExchange[] {
  return [...exchanges].sort((one, other) => other.endedMs - one.endedMs).slice(0, MAX_FOUND);
}
