import type { Outbox, OutboxEntry } from '../store/outbox/event.js';
import { StoreUnavailable } from '../admission/port.js';
import type { Log } from '../../shared/log.js';
import { repeat } from '../../shared/turns/repeat.js';
import { Attempts, type AttemptParts } from './attempts.js';

interface DelivererParts extends AttemptParts {
  readonly outbox: Outbox;
  /** Ends attempts in flight. */
  readonly close: () => Promise<void>;
  readonly log: Log;
  /** Tests only: interval between checks of the outbox. */
  readonly everyMs?: number;
}

const EVERY_MS = 1_000;
/** Maximum number of attempts in flight. */
const AT_ONCE = 16;
const DEAD_KEPT_MS = 30 * 24 * 3_600_000;
const FORGET_EVERY_MS = 3_600_000;
const COLLECT_EVERY_MS = 15 * 60_000;
const COLLECT_RETRY_MS = 2_000;

/**
 * Delivers events from the outbox to the webhook, each at least once, until it accepts them or the pause has reached 24
 * hours. Runs in one process per gateway; the outbox decides which gateway delivers what.
 */
export class Deliverer {
  readonly #parts: DelivererParts;
  readonly #attempts: Attempts;
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
      if (!(error instanceof StoreUnavailable)) parts.log.error({ err: error }, 'event delivery failed unexpectedly');
    };
    this.#attempts = new Attempts(parts);
    this.#stops = [
      repeat(parts.everyMs ?? EVERY_MS, () => this.#fill(), this.#onError),
      repeat(COLLECT_RETRY_MS, () => this.#collect(), this.#onError),
      repeat(COLLECT_RETRY_MS, () => this.#forgetDead(), this.#onError),
    ];
  }

  /** Ends attempts in flight; their events are due immediately for another gateway. */
  async stop(): Promise<void> {
    this.#ended = true;
    this.#attempts.end();
    await this.#parts.close();
    await Promise.all(this.#stops.map((stop) => stop()));
    await Promise.all([this.#filling, ...this.#underWay]);
  }

  async #fill(): Promise<void> {
    this.#filling ??= this.#takeUp()
      .catch(this.#onError)
      .finally(() => (this.#filling = undefined));
    await this.#filling;
  }

  async #takeUp(): Promise<void> {
    const { outbox } = this.#parts;
    for (let isMore = true; isMore && !this.#ended && !this.#attempts.gone;) {
      const room = AT_ONCE - this.#underWay.size;
      // Hanging attempts keep their slots; continue when half of them are free.
      if (room < AT_ONCE / 2) return;
      const claim = this.#attempts.claim();
      const entries = await outbox.claim(room, claim.leaseMs);
      isMore = entries.length === room;
      for (const entry of entries) this.#begin(entry, claim.untilMs);
    }
  }

  #begin(entry: OutboxEntry, untilMs: number): void {
    const attempt = this.#attempts
      .make(entry, untilMs)
      .catch(this.#onError)
      .finally(() => {
        this.#underWay.delete(attempt);
        if (this.#underWay.size === AT_ONCE / 2 - 1) void this.#fill();
      });
    this.#underWay.add(attempt);
  }

  /** Runs separately from delivery, because it takes long with many keys. */
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
