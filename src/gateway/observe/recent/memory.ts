import type { Exchange } from '../../exchange.js';
import { recentOf, type RecentExchange } from './exchange.js';
import { TopRefused, type RefusedCount } from './top-refused.js';

/** Refused or failed. */
const MAX_REFUSED = 20_000;
/** … of these, of one key or address. */
const MAX_OF_ONE = 50;
/** All others. */
const MAX_OTHERS = 1_000;
/** … as many in a second: to keep each under load until a thousand came after it would double garbage collection. */
const OTHERS_A_SECOND = 100;
/** An id may be a client's own, and the same for all that it asks. */
const MAX_FOUND = 50;

/** By the id that a client saw; the refused and failed of one key; or who was refused most. */
export type Question = { readonly request: string } | { readonly key: string } | { readonly topRefused: true };

/** What answers a question: exchanges, the last first, or counts, the largest first. */
export interface Remembered {
  readonly exchanges: readonly RecentExchange[];
  readonly refused: readonly RefusedCount[];
}

/** The last of them. */
class Ring {
  readonly #exchanges: RecentExchange[] = [];
  readonly #max: number;
  #next = 0;
  /** Since it was looked at last. */
  cameAgain = false;

  constructor(max: number) {
    this.#max = max;
  }

  /** True: there is one more than before. */
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

/** Those of keys, or of addresses. */
class Callers {
  readonly #rings = new Map<string, Ring>();
  /** Goes on where it stopped: from the beginning, it would have to pass all that were ever forgotten. */
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

  /** Forgets the one that has not come again for longest; those that did have a second round before them. */
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
 * The last exchanges of this process, so that somebody can ask why a request was refused. Whoever hammers pushes out
 * own ones alone, and a flood of addresses those of no key.
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

  /** @param isRefused or failed */
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

/** The last of them first, as many as one answer holds. */
export function newest(exchanges: readonly RecentExchange[]): readonly RecentExchange[] {
  return [...exchanges].sort((one, other) => other.endedMs - one.endedMs).slice(0, MAX_FOUND);
}
