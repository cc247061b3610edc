/** What each request adds: so many retries are there for a hundred requests. */
const PER_REQUEST = 0.2;
/** What is there at first, and after a quiet time: enough for a service that restarts. */
const MAX = 50;

/** How many requests may be sent a second time: without a bound a service in trouble gets twice the load. */
export class Retries {
  #left = MAX;

  earn(): void {
    this.#left = Math.min(MAX, this.#left + PER_REQUEST);
  }

  take(): boolean {
    if (this.#left < 1) return false;
    this.#left -= 1;
    return true;
  }
}
