import { StoreUnavailable } from '../port.js';

/**
 * Does `work` again and again, with a pause of `everyMs` after each time. That a store is away only ends
 * the round; anything else is told to `onFault`, and ends no more than that.
 */
export class Rounds {
  readonly #everyMs: number;
  readonly #work: () => Promise<void>;
  readonly #onFault: (error: unknown) => void;
  #timer: NodeJS.Timeout | undefined;
  #round: Promise<void> = Promise.resolve();
  #stopped = false;

  constructor(everyMs: number, work: () => Promise<void>, onFault: (error: unknown) => void) {
    this.#everyMs = everyMs;
    this.#work = work;
    this.#onFault = onFault;
    this.#later(0);
  }

  /** Waits for the round under way; there is none after it. */
  async stop(): Promise<void> {
    this.#stopped = true;
    clearTimeout(this.#timer);
    await this.#round;
  }

  #later(ms: number): void {
    if (!this.#stopped) this.#timer = setTimeout(() => void (this.#round = this.#run()), ms).unref();
  }

  async #run(): Promise<void> {
    try {
      await this.#work();
    } catch (error) {
      if (!(error instanceof StoreUnavailable)) this.#onFault(error);
    }
    this.#later(this.#everyMs);
  }
}
