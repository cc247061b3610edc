import { listIn } from '../../client.js';
import { CommandError } from '../../command-error.js';
import { readLedger } from '../ledger.js';
import { fractionOf } from '../../progress.js';
import { batchesOf } from './batches.js';
import type { Batch } from './batches.js';
import { deliver } from './deliver.js';
import { eventOf } from './event.js';
import type { KeyedEvent } from './event.js';
import { LateDays } from './late-days.js';
import type { Days, Growing } from './late-days.js';
import type { PushParts } from './parts.js';
import { StateFile } from './state.js';
import type { RunningRange } from './state.js';
import { DAY_MS, dayOf } from '../../../shared/utc-day.js';

/** As the report has it: an hour after its end a day changes no more. */
const SETTLE_MS = 3_600_000;

/**
 * Hands over the ledger, range by range, within a range key by key. After each acknowledged batch the
 * state says which keys are done, so that a kill at any moment costs one batch sent twice, which its ids
 * make harmless.
 */
export class Pusher {
  readonly #parts: PushParts;
  readonly #file: StateFile;
  readonly #late: LateDays;
  events = 0;
  /** What was pushed, in order. */
  readonly ranges: Days[] = [];

  constructor(parts: PushParts) {
    this.#parts = parts;
    this.#file = new StateFile(parts.stateFile);
    this.#late = new LateDays(parts, this.#file, (batch, days) => this.#deliver(batch, days));
  }

  /** Days pushed before of which more came. */
  get corrected(): readonly string[] {
    return this.#late.corrected;
  }

  /** First the range that was left unfinished, then the days asked for. Rejects with CommandError; what was done stays done. */
  async run(from: string | undefined, toDay: string | undefined): Promise<void> {
    const asked = { from, toDay };
    const growing = await this.#growing();
    const finalDay = earlier(dayOf(Date.now() - SETTLE_MS - DAY_MS), dayOf(Date.parse(growing.openFrom) - DAY_MS));
    const last = this.#parts.mode === 'day' ? earlier(toDay ?? finalDay, finalDay) : (toDay ?? dayOf(Date.now()));
    await this.#late.resume();
    const unfinished = this.#file.state.running;
    if (
      unfinished !== null &&
      (from === undefined || from === unfinished.from) &&
      (toDay === undefined || toDay === unfinished.to)
    ) {
      await this.#push(unfinished);
      // Days that were open may have grown for keys that were done before the stop: those come once more.
      if (from !== undefined) from = later(from, next(unfinished.finalDay));
    }
    const { doneThrough } = this.#file.state;
    const first = from ?? (doneThrough === null ? firstOfLastMonth() : next(doneThrough));
    if (first <= last) {
      const range = { from: first, to: last, after: null, finalDay };
      this.#file.save({ running: range, late: this.#late.including(range, growing) });
      await this.#push(range);
    }
    await this.#late.run(asked.from, asked.toDay, growing);
  }

  /** As the gateway has it: it may wait for the counts of another one. */
  async #growing(): Promise<Growing> {
    const found = await this.#parts.client.ask('GET', '/admin/v1/usage/gateways');
    return {
      openFrom: String(found['openFrom']),
      without: listIn(found, 'without').map(({ from, to }) => ({ from: String(from), to: String(to) })),
    };
  }

  async #push(range: RunningRange): Promise<void> {
    const { from, to, finalDay } = range;
    this.#file.save({ running: range });
    for await (const batch of batchesOf(this.#eventsOf(range), this.#parts.batch, range.after)) {
      await this.#deliver(batch, range);
      if (batch.after !== this.#file.state.running?.after)
        this.#file.save({ running: { ...range, after: batch.after } });
    }
    this.ranges.push({ from, to });
    this.#file.save({ running: null, doneThrough: this.#doneThrough(from, earlier(to, finalDay)) });
  }

  async *#eventsOf({ from, to }: RunningRange): AsyncGenerator<KeyedEvent, void> {
    const { client, mode, by, source, payerOf } = this.#parts;
    for await (const row of readLedger(client, { from, to, by })) {
      const day = row.get('day')!;
      if (this.#late.has(day)) continue;
      if (mode === 'day' && row.get('final') !== 'true')
        throw new CommandError(
          `${day} is not final by the gateway's clock, though it is by this machine's, or a gateway came back with counts of days before. See "petgate usage gateways" and the clock, then run the same command again.`,
        );
      yield { key: row.get('key')!, event: eventOf(row, mode, source, 1, payerOf) };
    }
  }

  async #deliver({ events, after }: Batch, { from, to }: Days): Promise<void> {
    const { receiver, progress } = this.#parts;
    await deliver(receiver, events);
    this.events += events.length;
    progress.show(after === null ? 0 : fractionOf(after), `${this.events} events, ${from} to ${to}`);
  }

  /** Days before the one known so far stay done; a range that leaves a gap behind them doesn't move it. */
  #doneThrough(from: string, to: string): string | null {
    const { doneThrough } = this.#file.state;
    if (to < from) return doneThrough;
    if (doneThrough === null) return to;
    return from > next(doneThrough) || to < doneThrough ? doneThrough : to;
  }
}

function next(day: string): string {
  return dayOf(Date.parse(day) + DAY_MS);
}

function earlier(a: string, b: string): string {
  return a < b ? a : b;
}

function later(a: string, b: string): string {
  return a > b ? a : b;
}

function firstOfLastMonth(): string {
  const now = new Date();
  return dayOf(Date.UTC(now.getUTCFullYear(), now.getUTCMonth() - 1, 1));
}
