/** The share of an address's connections that one operation may have: the rest is for all others when it hangs. */
const PART = 3 / 4;

interface Startable {
  start(): void;
}

/** The attempts of one operation at one address: some run, further ones wait until one of these ended. */
export class Share {
  readonly #max: number;
  readonly #waiting: Startable[] = [];
  #running = 0;

  constructor(connections: number) {
    this.#max = maxOf(connections);
  }

  get size(): number {
    return this.#running + this.#waiting.length;
  }

  get waiting(): number {
    return this.#waiting.length;
  }

  /** Starts it, at once or when its turn comes. A trial waits for nobody. */
  enter(attempt: Startable, isTrial: boolean): void {
    if (this.#running >= this.#max && !isTrial) {
      this.#waiting.push(attempt);
      return;
    }
    this.#running += 1;
    attempt.start();
  }

  leave(attempt: Startable): void {
    const slot = this.#waiting.indexOf(attempt);
    if (slot !== -1) {
      this.#waiting.splice(slot, 1);
      return;
    }
    this.#running -= 1;
    if (this.#running >= this.#max) return;
    const next = this.#waiting.shift();
    if (next === undefined) return;
    this.#running += 1;
    next.start();
  }
}

/** Attempts of one operation that run at once: never all connections, where there are two. */
export function maxOf(connections: number): number {
  return Math.max(1, Math.floor(connections * PART));
}
