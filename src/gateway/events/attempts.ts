import { setTimeout as sleep } from 'node:timers/promises';
import type { EventType, GatewayEvent, Outbox, OutboxEntry } from '../store/outbox/event.js';
import { StoreUnavailable } from '../admission/port.js';
import type { Log } from '../../shared/log.js';
import type { Outcome } from './send.js';

export interface AttemptParts {
  readonly outbox: Pick<Outbox, 'delivered' | 'postpone' | 'deadLetter'>;
  readonly send: (event: GatewayEvent) => Promise<Outcome>;
  /** Deadline of an attempt; a claim lasts slightly longer. */
  readonly timeoutMs: number;
  /** Pause after the first failed attempt; doubled each time. */
  readonly retryMs: number;
  readonly attempted: (type: EventType, outcome: 'delivered' | 'failed') => void;
  readonly log: Log;
  /** Tests only: a number from 0 to 1. */
  readonly random?: () => number;
}

/** Additional time for the claim before an attempt, and for the store after it. */
const CLAIM_SPARE_MS = 5_000;
const LEARN_SPARE_MS = 5_000;
const LEARN_AGAIN_MS = 250;
/** Pause of an event after a 410: a gateway started since then may deliver it. */
const GONE_MS = 60_000;
const LONGEST_PAUSE_MS = 24 * 3_600_000;

/** Makes attempts and records each result in the outbox. */
export class Attempts {
  readonly #parts: AttemptParts;
  /** Delivered, but not yet recorded in the store. */
  readonly #unlearned = new Set<string>();
  #ended = false;
  #gone = false;

  constructor(parts: AttemptParts) {
    this.#parts = parts;
  }

  /** The receiver returned 410: this process sends nothing more. */
  get gone(): boolean {
    return this.#gone;
  }

  /** Makes no more attempts: events claimed from now on are due again immediately. */
  end(): void {
    this.#ended = true;
  }

  /** Starts a claim: its lease, and until when attempts may begin, as `performance.now()`. */
  claim(): { readonly leaseMs: number; readonly untilMs: number } {
    const leaseMs = CLAIM_SPARE_MS + this.#parts.timeoutMs + LEARN_SPARE_MS;
    return { leaseMs, untilMs: performance.now() + CLAIM_SPARE_MS };
  }

  /** Makes an attempt, unless the claim is too old: another gateway may claim the entry before it ends. */
  async make(entry: OutboxEntry, untilMs: number): Promise<void> {
    const { outbox, send, attempted } = this.#parts;
    const { event } = entry;
    if (this.#unlearned.has(event.id) || performance.now() > untilMs) return;
    const outcome = this.#ended ? { kind: 'stopped' as const } : await send(event);
    if (outcome.kind === 'stopped') return outbox.postpone(entry, 0);
    attempted(event.type, outcome.kind === 'delivered' ? 'delivered' : 'failed');
    if (outcome.kind === 'delivered') return this.#delivered(event.id);
    if (outcome.kind === 'gone') return this.#goneAt(entry);
    return this.#failed({ ...entry, attempts: entry.attempts + 1, failure: outcome.reason });
  }

  /** Records it as soon as the store responds; otherwise the event would be sent again. */
  async #delivered(id: string): Promise<void> {
    this.#unlearned.add(id);
    try {
      for (;;) {
        try {
          await this.#parts.outbox.delivered(id);
          return;
        } catch (error) {
          if (!(error instanceof StoreUnavailable) || this.#ended) throw error;
          await sleep(LEARN_AGAIN_MS);
        }
      }
    } finally {
      this.#unlearned.delete(id);
    }
  }

  async #failed(entry: OutboxEntry): Promise<void> {
    const { outbox, retryMs, random = Math.random, log } = this.#parts;
    const pauseMs = retryMs * 2 ** (entry.attempts - 1);
    const [{ id, type }, { attempts, failure }] = [entry.event, entry];
    // The 24-hour pause was the last one.
    if (pauseMs / 2 >= LONGEST_PAUSE_MS) {
      log.error({ event: id, type, attempts, failure }, 'an event could not be delivered and is a dead letter');
      return outbox.deadLetter(entry);
    }
    log.warn({ event: id, type, attempts, failure }, 'an event could not be delivered');
    // Spread out, so that events of an outage do not all return at the same time.
    await outbox.postpone(entry, Math.min(pauseMs, LONGEST_PAUSE_MS) * (0.75 + random() / 2));
  }

  async #goneAt(entry: OutboxEntry): Promise<void> {
    if (!this.#gone)
      this.#parts.log.error(
        'the receiver of events returned 410 Gone: nothing is sent to it until this gateway restarts',
      );
    this.#gone = true;
    await this.#parts.outbox.postpone({ ...entry, failure: 'it answered 410: sending has stopped' }, GONE_MS);
  }
}
