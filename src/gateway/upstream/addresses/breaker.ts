import type { BreakerSettings } from '../../config/settings.js';
import type { UpstreamFailure } from '../failure.js';

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
 */
export class Breaker {
  readonly #settings: BreakerSettings | null;
  readonly #onBreakerChange: (change: BreakerChange) => void;
  /** Odd while open. */
  #generation = 0;
  #failures = 0;
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

  /** When the next request may be sent; no later than now when it is due. */
  get dueMs(): number {
    return this.isOpen ? this.#dueMs : -Infinity;
  }

  /** A request is being sent. Returns what to pass to `ended`. */
  send(nowMs: number): number {
    if (this.isOpen) {
      this.#openMs = Math.min(2 * this.#openMs, this.#settings!.capMs);
      this.#dueMs = nowMs + this.#openMs;
    }
    return this.#generation;
  }

  ended(sent: number, evidence: Evidence, nowMs: number): void {
    if (this.#settings === null || evidence === null || sent !== this.#generation) return;
    if (evidence === 'good') {
      this.#failures = 0;
      this.#healthyMs = nowMs;
      if (this.isOpen) this.#close(nowMs);
    } else if (!this.isOpen) {
      this.#failures += 1;
      if (this.#failures >= this.#settings.failures && nowMs - this.#healthyMs >= FRESH_MS)
        this.#open(this.#settings, evidence, nowMs);
    }
  }

  /** Somebody knows that it may be well again: the next request is a trial. */
  probeNow(): void {
    this.#dueMs = -Infinity;
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
