import { StoreUnavailable } from '../port.js';

/** Rarely enough that a Redis that answers now and then is left alone for a while. */
const PROBE_EVERY_MS = 500;

export interface BreakerParts {
  /** Rejects while Redis can't decide. */
  readonly probe: () => Promise<void>;
  /** Redis decides again, and is about to be asked. A rejection means that it is away once more. */
  readonly beforeClose: () => Promise<void>;
  readonly opened: (reason: string) => void;
  /** Never rejects. */
  readonly closed: (awayMs: number) => Promise<void>;
  readonly onFault: (error: unknown) => void;
}

/** Whether this process asks Redis. While it is open a probe asks in the background, and nobody else does. */
export class Breaker {
  readonly #parts: BreakerParts;
  #reason: string | null = null;
  #openedAtMs = 0;
  #timer: NodeJS.Timeout | undefined;
  #probing: Promise<void> = Promise.resolve();
  #stopped = false;

  constructor(parts: BreakerParts) {
    this.#parts = parts;
  }

  /** Why it is open; null while it is closed. */
  get reason(): string | null {
    return this.#reason;
  }

  open(reason: string): void {
    const isNew = this.#reason === null;
    this.#reason = plain(reason);
    if (!isNew || this.#stopped) return;
    this.#openedAtMs = performance.now();
    this.#parts.opened(this.#reason);
    this.#later();
  }

  /** Waits for the probe under way; there is none after it. */
  async stop(): Promise<void> {
    this.#stopped = true;
    clearTimeout(this.#timer);
    await this.#probing;
  }

  #later(): void {
    if (this.#stopped) return;
    this.#timer = setTimeout(() => void (this.#probing = this.#probing.then(() => this.#probe())), PROBE_EVERY_MS).unref();
  }

  async #probe(): Promise<void> {
    try {
      await this.#parts.probe();
      await this.#parts.beforeClose();
    } catch (error) {
      if (error instanceof StoreUnavailable) this.#reason = plain(error.message);
      else this.#parts.onFault(error);
      this.#later();
      return;
    }
    this.#reason = null;
    await this.#parts.closed(performance.now() - this.#openedAtMs);
  }
}

/** Without what everybody says anyway. */
function plain(reason: string): string {
  return reason.replace(/^the store is away: /, '');
}
