import type { UpstreamSettings } from '../config/settings.js';

/** A stream is asked so often whether it may go on, as a tunnel is. */
const RECHECK_MS = 5_000;

/** What happens to a stream. */
interface StreamRules {
  /** Whether its key could open it now. */
  readonly mayGoOn: () => Promise<boolean>;
  /** It lasted too long, or may not go on: no fault of the upstream. */
  readonly cut: () => void;
}

/** When an answer has to be there: whole, or, of a stream, its next piece. */
export class Deadline {
  readonly #onOver: () => void;
  #whole: NodeJS.Timeout;
  #idle: NodeJS.Timeout | null = null;
  #recheck: NodeJS.Timeout | null = null;

  constructor(ms: number, onOver: () => void) {
    this.#onOver = onOver;
    this.#whole = setTimeout(onOver, ms);
  }

  /** A stream began, or a piece of it came: its longest silence counts from now on, and how long it lasts. */
  streamed({ idleMs, lifetimeMs }: UpstreamSettings, { mayGoOn, cut }: StreamRules): void {
    if (this.#idle !== null) {
      this.#idle.refresh();
      return;
    }
    clearTimeout(this.#whole);
    this.#idle = setTimeout(this.#onOver, idleMs);
    this.#whole = setTimeout(cut, lifetimeMs);
    this.#recheck = setInterval(() => {
      void mayGoOn().then((goesOn) => {
        if (!goesOn && this.#recheck !== null) cut();
      });
    }, RECHECK_MS);
  }

  clear(): void {
    clearTimeout(this.#whole);
    if (this.#idle === null) return;
    clearTimeout(this.#idle);
    clearInterval(this.#recheck!);
    this.#recheck = null;
  }
}
