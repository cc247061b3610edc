import type { BreakerSettings } from '../../config/settings.js';
import type { UpstreamFailure } from '../failure.js';

/** So many callers must have seen failures before callers that saw none are kept away as well. */
const SEVERAL = 3;
/** What fails all at once, such as one of several instances, may be over already: a good answer counts for so long. */
const FRESH_MS = 250;

export type BreakerChange =
  { readonly open: true; readonly failure: UpstreamFailure } | { readonly open: false; readonly openedForMs: number };

/** What an attempt says of its address; null: nothing, such as one whose client left. */
export type Evidence = 'good' | UpstreamFailure | null;

/**
 * Whether an address is worth asking. Closed: all may ask. So many failures in a row open it; from then on one request,
 * a trial, is sent each time it is due, the next after twice the time, however the last hangs; the first that goes well
 * closes it. An attempt speaks only of the generation it was sent in: a hundred that fail together are one outage, and
 * what was sent before an outage says nothing of what comes after. Times are `performance.now()`.
 *
 * One caller can provoke a timeout or a lost connection, so it opens for the callers that saw failures; for all once
 * several did, or once so many requests got no connection, which no caller can provoke.
 */
export class Breaker {
  readonly #settings: BreakerSettings | null;
  readonly #onBreakerChange: (change: BreakerChange) => void;
  /** Odd while open. */
  #generation = 0;
  #failures = 0;
  /** Of these, those that got no connection; and who saw them, so many at most. */
  #unsent = 0;
  readonly #callers = new Set<string>();
  #healthyMs = -Infinity;
  #openedMs = 0;
  #openMs = 0;
  #dueMs = 0;

  constructor(settings: BreakerSettings | null, onBreakerChange: (change: BreakerChange) => void) {
    this.#settings = settings;
    this.#onBreakerChange = onBreakerChange;
  }

  get isOpen(): boolean {
    return this.#generation % 2 === 1;
  }

  get isOpenForAll(): boolean {
    return this.isOpen && this.#isForAll();
  }

  isOpenFor(caller: string): boolean {
    return this.isOpen && (this.#callers.has(caller) || this.isOpenForAll);
  }

  /** When the next request may be sent; no later than now when it is due. */
  get dueMs(): number {
    return this.isOpen ? this.#dueMs : -Infinity;
  }

  /** A request is being sent. Returns what to pass to `ended`. */
  send(caller: string, nowMs: number): number {
    if (this.isOpenFor(caller)) {
      this.#openMs = Math.min(2 * this.#openMs, this.#settings!.capMs);
      this.#dueMs = nowMs + this.#openMs;
    }
    return this.#generation;
  }

  ended(sent: number, evidence: Evidence, caller: string, nowMs: number): void {
    if (this.#settings === null || evidence === null || sent !== this.#generation) return;
    if (evidence === 'good') {
      this.#failures = 0;
      this.#unsent = 0;
      if (this.#callers.size > 0) this.#callers.clear();
      this.#healthyMs = nowMs;
      if (this.isOpen) this.#close(nowMs);
      return;
    }
    const wasForAll = this.#isForAll();
    this.#failures += 1;
    if (evidence === 'unreachable' || evidence === 'tls') this.#unsent += 1;
    if (this.#callers.size < SEVERAL) this.#callers.add(caller);
    if (this.isOpen) {
      if (!wasForAll && this.#isForAll()) this.#onBreakerChange({ open: true, failure: evidence });
    } else if (this.#failures >= this.#settings.failures && nowMs - this.#healthyMs >= FRESH_MS)
      this.#open(this.#settings, evidence, nowMs);
  }

  /** Somebody knows that it may be well again: the next request is a trial. */
  probeNow(): void {
    this.#dueMs = -Infinity;
  }

  #isForAll(): boolean {
    return this.#callers.size >= SEVERAL || this.#unsent >= this.#settings!.failures;
  }

  #open({ openMs }: BreakerSettings, failure: UpstreamFailure, nowMs: number): void {
    this.#generation += 1;
    this.#openedMs = nowMs;
    this.#openMs = openMs;
    this.#dueMs = nowMs + openMs;
    this.#onBreakerChange({ open: true, failure });
  }

  #close(nowMs: number): void {
    this.#generation += 1;
    this.#onBreakerChange({ open: false, openedForMs: nowMs - this.#openedMs });
  }
}
