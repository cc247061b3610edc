import type { UpstreamSettings } from '../config/settings.js';

/** When an answer has to be there: whole, or, of a stream, its next piece. */
export class Deadline {
  readonly #onOver: () => void;
  #whole: NodeJS.Timeout;
  #idle: NodeJS.Timeout | null = null;

  constructor(ms: number, onOver: () => void) {
    this.#onOver = onOver;
    this.#whole = setTimeout(onOver, ms);
  }

  /** A stream began, or a piece of it came: its longest silence counts from now on, and how long it lasts. */
  streamed({ idleMs, lifetimeMs }: UpstreamSettings): void {
    if (this.#idle !== null) {
      this.#idle.refresh();
      return;
    }
    clearTimeout(this.#whole);
    this.#idle = setTimeout(this.#onOver, idleMs);
    this.#whole = setTimeout(this.#onOver, lifetimeMs);
  }

  clear(): void {
    clearTimeout(this.#whole);
    if (this.#idle !== null) clearTimeout(this.#idle);
  }
}
