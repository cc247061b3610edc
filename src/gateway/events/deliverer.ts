import type { EventType, Outbox, OutboxEntry } from '../admission/events/outbox.js';
import { StoreUnavailable } from '../admission/port.js';
import type { Log } from '../../shared/log.js';
import { repeat } from '../../shared/repeat.js';
import type { Receivers } from './receivers.js';

interface DelivererParts {
  readonly outbox: Outbox;
  readonly receivers: Pick<Receivers, 'send' | 'copyOf' | 'isBusy' | 'close'>;
  /** Of an attempt; a claim lasts a little longer. */
  readonly timeoutMs: number;
  /** After the first failed attempt; then twice as long each time. */
  readonly retryMs: number;
  readonly attempted: (type: EventType, outcome: 'delivered' | 'failed') => void;
  readonly log: Log;
  /** Tests only: the pause between two looks at the outbox. */
  readonly everyMs?: number;
  /** Tests only: a number from 0 to 1. */
  readonly random?: () => number;
}

const EVERY_MS = 1_000;
const AT_ONCE = 16;
/** Attempts to reach customers, above which nothing more is claimed. */
const MOST_BESIDE = 64;
/** For an event to a webhook that is failing just now. */
const BUSY_MS = 30_000;
/** How often is looked whether somebody has put right who wants no more: by a gateway that was started since. */
const GONE_MS = 60_000;
/** For the store, beside the attempt itself. */
const LEASE_SPARE_MS = 5_000;
const LONGEST_PAUSE_MS = 24 * 3_600_000;
const DEAD_KEPT_MS = 30 * 24 * 3_600_000;
const FORGET_EVERY_MS = 3_600_000;
const COLLECT_EVERY_MS = 15 * 60_000;
const COLLECT_RETRY_MS = 2_000;

/**
 * Takes events from the outbox to their receivers, at least once each, until these have taken them or the pauses have grown to
 * 24 hours. Runs in one process of each gateway, beside the requests; which gateway delivers what is the outbox's to say.
 */
export class Deliverer {
  readonly #parts: DelivererParts;
  readonly #stop: () => Promise<void>;
  readonly #stopCollecting: () => Promise<void>;
  readonly #onError: (error: unknown) => void;
  /** Attempts under way: to reach the operators, and beside them customers, whose webhooks may hang as long as they like. */
  readonly #own = new Set<Promise<void>>();
  readonly #beside = new Set<Promise<void>>();
  #ended = false;
  /** The operators' receiver answered 410: it is asked no more by this process. */
  #gone = false;
  #forgetAtMs = 0;
  #collectAtMs = 0;

  constructor(parts: DelivererParts) {
    this.#parts = parts;
    const onError = (error: unknown): void => {
      if (!(error instanceof StoreUnavailable)) parts.log.error({ err: error }, 'the delivery of events met a fault');
    };
    this.#onError = onError;
    this.#stop = repeat(parts.everyMs ?? EVERY_MS, () => this.#round(), onError);
    this.#stopCollecting = repeat(COLLECT_RETRY_MS, () => this.#collect(), onError);
  }

  /** Ends the attempts under way; what they were about is due at once, for whoever comes next. */
  async stop(): Promise<void> {
    this.#ended = true;
    await this.#parts.receivers.close();
    await Promise.all([this.#stop(), this.#stopCollecting()]);
    await Promise.all([...this.#own, ...this.#beside]);
  }

  async #round(): Promise<void> {
    const { outbox, timeoutMs } = this.#parts;
    for (let isMore = true; isMore && !this.#ended && this.#beside.size <= MOST_BESIDE;) {
      // Those that hang keep their places; with half of them free it goes on.
      while (this.#own.size > AT_ONCE / 2) await Promise.race(this.#own);
      const room = AT_ONCE - this.#own.size;
      const entries = await outbox.claim(room, timeoutMs + LEASE_SPARE_MS);
      isMore = entries.length === room;
      for (const entry of entries) this.#begin(entry, entry.event.to === undefined ? this.#own : this.#beside);
    }
    if (performance.now() < this.#forgetAtMs) return;
    await outbox.forgetDead(DEAD_KEPT_MS);
    this.#forgetAtMs = performance.now() + FORGET_EVERY_MS;
  }

  #begin(entry: OutboxEntry, underWay: Set<Promise<void>>): void {
    const attempt = this.#attempt(entry)
      .catch(this.#onError)
      .finally(() => underWay.delete(attempt));
    underWay.add(attempt);
  }

  /** Beside the rounds: of many keys it takes long. A process that died mostly did so before this one started. */
  async #collect(): Promise<void> {
    if (performance.now() < this.#collectAtMs || !(await this.#parts.outbox.collect())) return;
    this.#collectAtMs = performance.now() + COLLECT_EVERY_MS;
  }

  async #attempt(entry: OutboxEntry): Promise<void> {
    const { outbox, receivers, attempted } = this.#parts;
    const { event } = entry;
    // Before the first attempt: after it the event may be gone.
    const copy = isFirst(entry) ? await receivers.copyOf(event) : undefined;
    if (copy !== undefined) await outbox.enter(copy);
    if (receivers.isBusy(event)) return outbox.postpone(entry, BUSY_MS);
    if (this.#gone && event.to === undefined) return this.#goneAt(entry);
    const outcome = this.#ended ? { kind: 'stopped' as const } : await receivers.send(event);
    if (outcome.kind === 'unwanted') return outbox.delivered(event.id);
    if (outcome.kind === 'stopped') return outbox.postpone(entry, 0);
    attempted(event.type, outcome.kind === 'delivered' ? 'delivered' : 'failed');
    if (outcome.kind === 'delivered') return outbox.delivered(event.id);
    if (outcome.kind === 'gone' && event.to === undefined) return this.#goneAt(entry);
    const attempts = entry.attempts + 1;
    // A customer's webhook is no setting: nobody starts a gateway again for it.
    if (outcome.kind === 'gone') return outbox.bury({ ...entry, attempts, failure: 'it answered 410' });
    return this.#failed({ ...entry, attempts, failure: outcome.reason });
  }

  async #failed(entry: OutboxEntry): Promise<void> {
    const { outbox, retryMs, random = Math.random, log } = this.#parts;
    const pauseMs = retryMs * 2 ** (entry.attempts - 1);
    const [{ id, type }, { attempts, failure }] = [entry.event, entry];
    // The pause of 24 hours was the last one.
    if (pauseMs / 2 >= LONGEST_PAUSE_MS) {
      log.error({ event: id, type, attempts, failure }, 'an event could not be delivered and is a dead letter');
      return outbox.bury(entry);
    }
    log.warn({ event: id, type, attempts, failure }, 'an event could not be delivered');
    // Spread, so that not all of an outage come back together.
    await outbox.postpone(entry, Math.min(pauseMs, LONGEST_PAUSE_MS) * (0.75 + random() / 2));
  }

  async #goneAt(entry: OutboxEntry): Promise<void> {
    if (!this.#gone)
      this.#parts.log.error(
        'the receiver of events answered 410 Gone: nothing is sent to it until this gateway starts again',
      );
    this.#gone = true;
    await this.#parts.outbox.postpone({ ...entry, failure: 'it answered 410: sending has stopped' }, GONE_MS);
  }
}

function isFirst({ attempts, failure }: OutboxEntry): boolean {
  return attempts === 0 && failure === null;
}
