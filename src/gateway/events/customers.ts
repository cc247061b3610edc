import type { Outbox, OutboxEntry } from '../store/outbox/event.js';
import type { Attempts, Went } from './attempts.js';

interface CustomersParts {
  readonly outbox: Pick<Outbox, 'claim' | 'claimCustomers' | 'release'>;
  /** After a webhook's first failure it is left alone for so long; then twice as long each time. */
  readonly retryMs: number;
}

/** Customers whose webhooks are called at once, and of those that failed last time. */
const AT_ONCE = 256;
const FAILING_AT_ONCE = 64;
/** Events sent to one webhook at once; one that fails gets one at a time. */
const EVENTS_AT_ONCE = 4;
const LONGEST_HOLD_MS = 5 * 60_000;
/** When all places for those that fail are taken. */
const NO_SLOT_MS = 2_000;
/** Of failing ones; beyond it the one that began longest ago counts as new. */
const MAX_REMEMBERED = 10_000;

/** The webhooks of customers: each is served by itself, and waits for no other. */
export class Customers {
  readonly #parts: CustomersParts;
  readonly #attempts: Attempts;
  readonly #onError: (error: unknown) => void;
  readonly #served = new Set<Promise<void>>();
  /** How often each webhook has failed in a row. */
  readonly #failures = new Map<string, number>();
  #failingServed = 0;
  #filling: Promise<void> | undefined;

  constructor(parts: CustomersParts, attempts: Attempts, onError: (error: unknown) => void) {
    this.#parts = parts;
    this.#attempts = attempts;
    this.#onError = onError;
  }

  fill(): void {
    this.#filling ??= this.#takeUp()
      .catch(this.#onError)
      .finally(() => (this.#filling = undefined));
  }

  async idle(): Promise<void> {
    await this.#filling;
    await Promise.all(this.#served);
  }

  async #takeUp(): Promise<void> {
    for (let isMore = true; isMore && !this.#attempts.ended && this.#served.size < AT_ONCE;) {
      const room = AT_ONCE - this.#served.size;
      const customers = await this.#parts.outbox.claimCustomers(room, this.#attempts.claim().leaseMs);
      isMore = customers.length === room;
      for (const customer of customers) {
        const serving = this.#serve(customer)
          .catch(this.#onError)
          .finally(() => {
            this.#served.delete(serving);
            if (this.#served.size === AT_ONCE - 1) this.fill();
          });
        this.#served.add(serving);
      }
    }
  }

  async #serve(customer: string): Promise<void> {
    const { outbox } = this.#parts;
    if (!this.#failures.has(customer)) return this.#send(customer, EVENTS_AT_ONCE);
    if (this.#failingServed >= FAILING_AT_ONCE) return outbox.release(customer, NO_SLOT_MS * (1 + Math.random()));
    this.#failingServed += 1;
    try {
      await this.#send(customer, 1);
    } finally {
      this.#failingServed -= 1;
    }
  }

  async #send(customer: string, count: number): Promise<void> {
    const { outbox } = this.#parts;
    const claim = this.#attempts.claim();
    const entries = await outbox.claim(customer, count, claim.leaseMs);
    const make = (entry: OutboxEntry): Promise<Went | undefined> =>
      this.#attempts.make(entry, claim.untilMs).catch((error: unknown) => {
        this.#onError(error);
        return undefined;
      });
    const went = await Promise.all(entries.map(make));
    const holdMs = went.includes('badly') ? this.#failed(customer) : 0;
    if (holdMs === 0 && went.includes('well')) this.#failures.delete(customer);
    await outbox.release(customer, holdMs);
    // With all that it was sent taken there may be more.
    if (holdMs === 0 && entries.length === count) this.fill();
  }

  /** For how long it is left alone, ms. */
  #failed(customer: string): number {
    const failures = (this.#failures.get(customer) ?? 0) + 1;
    const [oldest] = this.#failures.keys();
    if (this.#failures.size >= MAX_REMEMBERED && oldest !== undefined) this.#failures.delete(oldest);
    this.#failures.set(customer, failures);
    return Math.min(this.#parts.retryMs * 2 ** (failures - 1), LONGEST_HOLD_MS);
  }
}
