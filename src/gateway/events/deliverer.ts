import type { Outbox, OutboxEntry } from '../store/outbox/event.js';
import { StoreUnavailable } from '../admission/port.js';
import type { Log } from '../../shared/log.js';
import { repeat } from '../../shared/repeat.js';
import { Attempts, type AttemptParts } from './attempts.js';
import { Customers } from './customers.js';
import type { Receivers } from './receivers.js';

interface DelivererParts extends AttemptParts {
  readonly outbox: Outbox;
  readonly receivers: Pick<Receivers, 'send' | 'copyOf' | 'close'>;
  readonly log: Log;
  /** Tests only: the pause between two looks at the outbox. */
  readonly everyMs?: number;
}

const EVERY_MS = 1_000;
/** Events that are given to their receivers' queues in one step, and how long that may take. */
const ARRIVALS_AT_ONCE = 64;
const ARRIVALS_LEASE_MS = 10_000;
/** Attempts at the operators' webhook under way. */
const AT_ONCE = 16;
const DEAD_KEPT_MS = 30 * 24 * 3_600_000;
const FORGET_EVERY_MS = 3_600_000;
const COLLECT_EVERY_MS = 15 * 60_000;
const COLLECT_RETRY_MS = 2_000;

/**
 * Takes events from the outbox to their receivers, at least once each, until these have taken them or the pauses have
 * grown to 24 hours. Runs in one process of each gateway; which gateway delivers what is the outbox's to say. The
 * operators and each customer have queues of their own: nobody waits for another's receiver.
 */
export class Deliverer {
  readonly #parts: DelivererParts;
  readonly #attempts: Attempts;
  readonly #customers: Customers;
  readonly #stops: readonly (() => Promise<void>)[];
  readonly #onError: (error: unknown) => void;
  readonly #underWay = new Set<Promise<void>>();
  #filling: Promise<void> | undefined;
  #ended = false;
  #forgetAtMs = 0;
  #collectAtMs = 0;
  #hasCollected = false;

  constructor(parts: DelivererParts) {
    this.#parts = parts;
    this.#onError = (error) => {
      if (!(error instanceof StoreUnavailable)) parts.log.error({ err: error }, 'the delivery of events met a fault');
    };
    this.#attempts = new Attempts(parts);
    this.#customers = new Customers(parts, this.#attempts, this.#onError);
    this.#stops = [
      repeat(parts.everyMs ?? EVERY_MS, () => this.#round(), this.#onError),
      repeat(COLLECT_RETRY_MS, () => this.#collect(), this.#onError),
      repeat(COLLECT_RETRY_MS, () => this.#forgetDead(), this.#onError),
    ];
  }

  /** Ends the attempts under way; what they were about is due at once, for whoever comes next. */
  async stop(): Promise<void> {
    this.#ended = true;
    this.#attempts.end();
    await this.#parts.receivers.close();
    await Promise.all(this.#stops.map((stop) => stop()));
    await Promise.all([this.#filling, ...this.#underWay, this.#customers.idle()]);
  }

  async #round(): Promise<void> {
    // First what waits already: a burst that arrives must not hold it up.
    this.#fill();
    this.#customers.fill();
    while (!this.#ended && (await this.#distribute()) === ARRIVALS_AT_ONCE);
  }

  /** Gives what has arrived to the queues of its receivers; how many there were. */
  async #distribute(): Promise<number> {
    const { outbox, receivers } = this.#parts;
    const events = await outbox.arrivals(ARRIVALS_AT_ONCE, ARRIVALS_LEASE_MS);
    if (events.length === 0) return 0;
    const copies = await Promise.all(events.map((event) => receivers.copyOf(event)));
    await outbox.distribute([...copies.filter((copy) => copy !== undefined), ...events]);
    this.#fill();
    this.#customers.fill();
    return events.length;
  }

  #fill(): void {
    this.#filling ??= this.#takeUp()
      .catch(this.#onError)
      .finally(() => (this.#filling = undefined));
  }

  async #takeUp(): Promise<void> {
    const { outbox } = this.#parts;
    for (let isMore = true; isMore && !this.#ended && !this.#attempts.gone;) {
      const room = AT_ONCE - this.#underWay.size;
      // Those that hang keep their places; with half of them free it goes on.
      if (room < AT_ONCE / 2) return;
      const claim = this.#attempts.claim();
      const entries = await outbox.claim(null, room, claim.leaseMs);
      isMore = entries.length === room;
      for (const entry of entries) this.#begin(entry, claim.untilMs);
    }
  }

  #begin(entry: OutboxEntry, untilMs: number): void {
    const attempt = this.#attempts
      .make(entry, untilMs)
      .then(() => undefined)
      .catch(this.#onError)
      .finally(() => {
        this.#underWay.delete(attempt);
        if (this.#underWay.size === AT_ONCE / 2 - 1) this.#fill();
      });
    this.#underWay.add(attempt);
  }

  /** Beside the rounds: of many keys it takes long. A process that died mostly did so before this one started. */
  async #collect(): Promise<void> {
    if (performance.now() < this.#collectAtMs) return;
    if (!(await this.#parts.outbox.collect(COLLECT_EVERY_MS, !this.#hasCollected))) return;
    this.#hasCollected = true;
    this.#collectAtMs = performance.now() + COLLECT_EVERY_MS;
  }

  async #forgetDead(): Promise<void> {
    if (performance.now() < this.#forgetAtMs) return;
    while (!this.#ended && !(await this.#parts.outbox.forgetDead(DEAD_KEPT_MS)));
    this.#forgetAtMs = performance.now() + FORGET_EVERY_MS;
  }
}
