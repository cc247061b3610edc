/** Retries earned per request. */
const PER_REQUEST = 0.2;
/** Retries available at the start and after a quiet time: enough for a service that restarts. */
const MAX = 50;

/** Limits retries: without a bound, a service in trouble would get twice the load. */
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
