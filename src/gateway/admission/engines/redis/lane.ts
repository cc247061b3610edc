import { StoreUnavailable } from '../../port.js';
import { StoreClock } from './clock.js';

/** How often a node that is away is asked whether it is back. */
const PROBE_EVERY_MS = 20;

/**
 * The way to one Redis node: whether it is worth asking (a breaker), and what its clock shows.
 * A lane begins down, is opened by its first good probe and closed by the first failure, so that a
 * dead Redis costs nothing, and no call is sent before the clock is known.
 */
export class Lane {
  readonly #probe: () => Promise<void>;
  readonly #changed: (up: boolean, reason: string) => void;
  #up = false;
  #reason = 'not connected yet';
  #first: Promise<void> | undefined;
  #giveUp: () => void = () => undefined;
  #timer: NodeJS.Timeout | undefined;
  #closed = false;
  #clock = new StoreClock();

  constructor(probe: () => Promise<void>, deadlineMs: number, changed: (up: boolean, reason: string) => void) {
    this.#probe = probe;
    this.#changed = changed;
    this.#first = this.#open(performance.now() + deadlineMs).finally(() => (this.#first = undefined));
  }

  /** The node's clock, as far as its answers tell. */
  get clock(): StoreClock {
    return this.#clock;
  }

  get up(): boolean {
    return this.#up;
  }

  /** Waits while the very first probe is under way. Throws StoreUnavailable when the lane is down. */
  async ready(): Promise<void> {
    await this.#first;
    if (!this.#up) throw new StoreUnavailable(`the store is away: ${this.#reason}`, { untouched: true });
  }

  /** Closes the lane until a probe comes back. */
  fail(reason: string): void {
    this.#reason = reason;
    if (!this.#up || this.#closed) return;
    this.#up = false;
    // Another node with another clock may take its place.
    this.#clock = new StoreClock();
    this.#changed(false, reason);
    void this.#open(0);
  }

  close(): void {
    this.#closed = true;
    this.#up = false;
    this.#reason = 'the engine is closed';
    clearTimeout(this.#timer);
    this.#giveUp();
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
        this.#giveUp = resolve;
        if (this.#closed) resolve();
        else this.#timer = setTimeout(() => resolve(this.#open(patientUntilMs)), PROBE_EVERY_MS);
      });
      if (performance.now() < patientUntilMs) await again;
    }
  }
}
