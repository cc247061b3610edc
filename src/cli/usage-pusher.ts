import type { AdminClient } from './client.js';
import { Failure } from './failure.js';
import { deliver } from './usage-deliver.js';
import type { Receiver } from './usage-deliver.js';
import { eventOf } from './usage-event.js';
import type { PushMode, UsageEvent } from './usage-event.js';
import { readLedger } from './usage-ledger.js';
import { fractionOf } from './usage-progress.js';
import type { Progress } from './usage-progress.js';
import { readState, writeState } from './usage-state.js';
import type { PushState, RunningRange } from './usage-state.js';

export interface PushParts {
  readonly client: AdminClient;
  readonly receiver: Receiver;
  readonly mode: PushMode;
  /** Begins with `key,day`. */
  readonly by: string;
  readonly source: string;
  /** Events per request. */
  readonly batch: number;
  readonly stateFile: string;
  readonly progress: Progress;
}

const DAY_MS = 86_400_000;
/** As the report has it: an hour after its end a day changes no more. */
const SETTLE_MS = 3_600_000;

/**
 * Hands over the ledger, range by range, within a range key by key. After each acknowledged batch the
 * state says which keys are done, so that a kill at any moment costs one batch sent twice, which its ids
 * make harmless.
 */
export class Pusher {
  readonly #parts: PushParts;
  #state: PushState;
  events = 0;
  /** What was pushed, in order. */
  readonly ranges: { readonly from: string; readonly to: string }[] = [];

  constructor(parts: PushParts) {
    this.#parts = parts;
    this.#state = readState(parts.stateFile);
  }

  /** First what was begun and not ended, then the days asked for. Rejects with Failure; what was done stays done. */
  async run(from: string | undefined, toDay: string | undefined): Promise<void> {
    // As the gateway has it: it may wait for the counts of another one.
    const { openFrom } = await this.#parts.client.ask('GET', '/admin/v1/usage/gateways');
    const finalDay = earlier(dayAt(Date.now() - SETTLE_MS - DAY_MS), dayAt(Date.parse(String(openFrom)) - DAY_MS));
    const last = this.#parts.mode === 'day' ? earlier(toDay ?? finalDay, finalDay) : toDay ?? dayAt(Date.now());
    const begun = this.#state.running;
    if (begun !== null && (from === undefined || from === begun.from) && (toDay === undefined || toDay === begun.to)) {
      await this.#push(begun);
      // Days that were open may have grown for keys that were done before the stop: those come once more.
      if (from !== undefined) from = later(from, next(begun.finalDay));
    }
    const first = from ?? (this.#state.doneThrough === null ? firstOfLastMonth() : next(this.#state.doneThrough));
    if (first <= last) await this.#push({ from: first, to: last, after: null, finalDay });
  }

  async #push(range: RunningRange): Promise<void> {
    const { client, mode, by, source, batch } = this.#parts;
    const { from, to, finalDay } = range;
    this.#save({ ...this.#state, running: range });
    let waiting: UsageEvent[] = [];
    let whole = range.after;
    let key = range.after;
    for await (const row of readLedger(client, { from, to, by })) {
      const rowKey = row.get('key')!;
      if (range.after !== null && rowKey <= range.after) continue;
      if (mode === 'day' && row.get('final') !== 'true') throw new Failure(`${row.get('day')!} is not final by the gateway's clock, though it is by this machine's. Set the clock right, then run the same command again.`);
      if (rowKey !== key) whole = key;
      key = rowKey;
      waiting.push(eventOf(row, mode, source));
      if (waiting.length < batch) continue;
      await this.#deliver(waiting, { ...range, after: whole });
      waiting = [];
    }
    if (waiting.length > 0) await this.#deliver(waiting, { ...range, after: key });
    this.ranges.push({ from, to });
    this.#save({ version: 1, running: null, doneThrough: this.#doneThrough(from, earlier(to, finalDay)) });
  }

  async #deliver(events: readonly UsageEvent[], running: RunningRange): Promise<void> {
    const { receiver, progress } = this.#parts;
    await deliver(receiver, events);
    this.events += events.length;
    if (running.after !== this.#state.running?.after) this.#save({ ...this.#state, running });
    progress.show(running.after === null ? 0 : fractionOf(running.after), `${this.events} events, ${running.from} to ${running.to}`);
  }

  /** Days before the one known so far stay done; a range that leaves a gap behind them doesn't move it. */
  #doneThrough(from: string, to: string): string | null {
    const { doneThrough } = this.#state;
    if (to < from) return doneThrough;
    if (doneThrough === null) return to;
    return from > next(doneThrough) || to < doneThrough ? doneThrough : to;
  }

  #save(state: PushState): void {
    this.#state = state;
    writeState(this.#parts.stateFile, state);
  }
}

function dayAt(atMs: number): string {
  return new Date(atMs).toISOString().slice(0, 10);
}

function next(day: string): string {
  return dayAt(Date.parse(day) + DAY_MS);
}

function earlier(a: string, b: string): string {
  return a < b ? a : b;
}

function later(a: string, b: string): string {
  return a > b ? a : b;
}

function firstOfLastMonth(): string {
  const now = new Date();
  return dayAt(Date.UTC(now.getUTCFullYear(), now.getUTCMonth() - 1, 1));
}
