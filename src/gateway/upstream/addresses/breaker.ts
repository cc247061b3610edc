import type { BreakerSettings } from '../../config/schema/upstream.js';
import type { UpstreamFailure } from './failure.js';

/** Number of callers that must have seen failures before the others are kept off it, too. */
const SEVERAL = 3;
/** A success this recent means that several simultaneous failures, as of one instance of many, may be over. */
const FRESH_MS = 250;

export type BreakerChange =
  | { readonly open: true; readonly failure: UpstreamFailure }
  | { readonly open: false; readonly openedForMs: number };

/** What an attempt shows about its address; null for nothing, for example if its client left. */
export type Evidence = 'good' | UpstreamFailure | null;

/**
 * A circuit breaker. Closed: all requests are sent. A number of failures in a row opens it; then one request, a trial,
 * is sent whenever it is due, each after twice the time, even if the last one hangs. The first success closes it. An
 * attempt counts only for the generation it was sent in: a hundred that fail together are one outage, and requests sent
 * before an outage say nothing about the time after it. Times are `performance.now()`.
 *
 * A single caller can provoke timeouts and lost connections, so it opens for the callers that saw failures; for all
 * once several did, or once enough requests got no connection, which no caller can provoke.
 */
export class Breaker {
  readonly #settings: BreakerSettings | null;
  readonly #onBreakerChange: (change: BreakerChange) => void;
  /** Odd while open. */
  #generation = 0;
  #failures = 0;
  /** Failures without a connection; and the callers that saw failures, up to `SEVERAL`. */
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

  /** When the next request may be sent; in the past if it is due. */
  get dueMs(): number {
    return this.isOpen ? this.#dueMs : -Infinity;
  }

  /** Notes that a request is being sent. Returns the value for `ended`. */
  send(caller: string, nowMs: number): number {
    if (this.isOpenFor(caller)) {
      this.#openMs = Math.min(2 * this.#openMs, this.#settings!.cap);
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

  /** It may have recovered: the next request is a trial. */
  probeNow(): void {
    this.#dueMs = -Infinity;
  }

  #isForAll(): boolean {
    return this.#callers.size >= SEVERAL || this.#unsent >= this.#settings!.failures;
  }

  #open({ open: openMs }: BreakerSettings, failure: UpstreamFailure, nowMs: number): void {
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
