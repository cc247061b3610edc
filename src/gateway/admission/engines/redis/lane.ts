import { StoreUnavailable } from '../../port.js';

/** How often a node that is away is asked whether it is back. */
const PROBE_EVERY_MS = 20;

/**
 * The way to one Redis node: whether it is worth asking (a breaker), and what its clock shows.
 * A lane begins down, is opened by its first good probe and closed by the first failure, so that a
 * dead Redis costs nothing, and no call is sent before the clock is known.
 */
export class Lane {
  readonly #probe: () => Promise<void>;
  readonly #deadlineMs: number;
  readonly #changed: (up: boolean, reason: string) => void;
  #up = false;
  #reason = 'not connected yet';
  #first: Promise<void> | undefined;
  #timer: NodeJS.Timeout | undefined;
  #closed = false;
  /** Store clock minus ours, at most: the true difference is this or a little more. */
  #aheadMs: number | undefined;

  constructor(probe: () => Promise<void>, deadlineMs: number, changed: (up: boolean, reason: string) => void) {
    this.#probe = probe;
    this.#deadlineMs = deadlineMs;
    this.#changed = changed;
    this.#first = this.#open(performance.now() + deadlineMs).finally(() => (this.#first = undefined));
  }

  get up(): boolean {
    return this.#up;
  }

  /** Why the lane is down. */
  get reason(): string {
    return this.#reason;
  }

  /** Waits while the very first probe is under way. Throws StoreUnavailable when the lane is down. */
  async ready(): Promise<void> {
    await this.#first;
    if (!this.#up) throw new StoreUnavailable(`the store is away: ${this.#reason}`);
  }

  /** Closes the lane until a probe comes back. */
  fail(reason: string): void {
    this.#reason = reason;
    if (!this.#up || this.#closed) return;
    this.#up = false;
    // Another node with another clock may take its place.
    this.#aheadMs = undefined;
    this.#changed(false, reason);
    void this.#open(0);
  }

  close(): void {
    this.#closed = true;
    this.#up = false;
    this.#reason = 'the engine is closed';
    clearTimeout(this.#timer);
  }

  /**
   * Takes note of what the store's clock showed in an answer that has just come. The tightest note
   * counts; a much earlier one means that the clock was set back.
   */
  note(storeMs: number): void {
    const aheadMs = storeMs - performance.now();
    if (this.#aheadMs === undefined || aheadMs > this.#aheadMs || this.#aheadMs - aheadMs > this.#deadlineMs) this.#aheadMs = aheadMs;
  }

  /** `ourMs` on the store's clock, never later than it truly will be there; undefined before the first note. */
  storeMsAt(ourMs: number): number | undefined {
    return this.#aheadMs === undefined ? undefined : Math.floor(ourMs + this.#aheadMs);
  }

  /** Probes until one comes back. The promise ends then, or at the first failure past `patientUntilMs`. */
  async #open(patientUntilMs: number): Promise<void> {
    try {
      await this.#probe();
      if (this.#closed) return;
      this.#up = true;
      this.#changed(true, '');
    } catch (error) {
      this.#reason = error instanceof Error ? error.message : 'no answer';
      const again = new Promise<void>((resolve) => {
        if (this.#closed) resolve();
        else this.#timer = setTimeout(() => resolve(this.#open(patientUntilMs)), PROBE_EVERY_MS);
      });
      if (performance.now() < patientUntilMs) await again;
    }
  }
}
