import { rmSync } from 'node:fs';
import { listIn, type AdminClient } from '../../client.js';
import { CommandError } from '../../command-error.js';
import type { Progress } from '../../progress.js';
import { DAY_MS, dayOf, daysFrom } from '../../../shared/utc-day.js';
import { readLedger, type LedgerRow } from '../ledger.js';
import { amountsOf, areFixed, fixAmounts, fixedAmounts, forgetAmounts, monthsToSend } from './amounts.js';
import { correctionEvent, idOf, monthOf, unsentCorrections } from './corrections.js';
import { deliver, type Receiver } from './deliver.js';
import { eventOf, type UsageEvent } from './event.js';
import { appendGrowth, readJournal } from './journal.js';
import type { Payers } from './payers.js';
import { SentCorrections } from './sent.js';
import { StateFile, type PushedDay } from './state.js';

/** As in the report: a day no longer changes an hour after its end. */
const SETTLE_MS = 3_600_000;
/** Attempts to compute the amounts of a month that is being corrected. */
const FIXING_TRIES = 5;

/** UTC days, both included. */
interface Days {
  readonly from: string;
  readonly to: string;
}

/** The days that may still grow: from `openFrom` on, and those `without` a gateway. */
interface Growing {
  readonly openFrom: string;
  readonly without: readonly Days[];
}

interface PushParts {
  readonly client: AdminClient;
  readonly receiver: Receiver;
  /** Begins with `key,day`. */
  readonly by: string;
  readonly source: string;
  readonly payerOf: Payers;
  /** Events per request. */
  readonly batch: number;
  readonly stateFile: string;
  /** Whether to send what is owed for past months. */
  readonly amounts?: boolean;
  readonly progress: Progress;
}

/**
 * Sends the ledger, day by day. Writes each day to a journal first, and saves its progress after each acknowledged
 * batch: an event ID keeps its content, and a kill costs at most one batch sent twice. Keeps the journal of a day that
 * became final without a gateway while the day may grow; growth is a separate event.
 */
export class Pusher {
  readonly #parts: PushParts;
  readonly #file: StateFile;
  readonly #sent: SentCorrections;
  /** Number of acknowledged events. */
  events = 0;
  /** Pushed ranges, in order. */
  readonly ranges: Days[] = [];
  /** Months whose amounts were sent. */
  readonly amounts: string[] = [];
  /** Number of corrections among the events. */
  corrections = 0;
  /** Days pushed earlier that have grown. */
  readonly corrected: string[] = [];

  constructor(parts: PushParts) {
    this.#parts = parts;
    this.#file = new StateFile(parts.stateFile);
    this.#sent = new SentCorrections(this.#file);
  }

  /** Finishes an interrupted range first, then pushes the given days. */
  async run(from: string | undefined, to: string | undefined): Promise<void> {
    const file = this.#file;
    const growing = await this.#growing();
    const finalDay = earlier(dayOf(Date.now() - SETTLE_MS - DAY_MS), dayBefore(growing.openFrom));
    const last = earlier(to ?? finalDay, finalDay);
    const { running, days } = file.state;
    const continues = running !== null && (from ?? running.from) === running.from && (to ?? running.to) === running.to;
    if (continues) {
      if (days[running.day] !== undefined) await this.#pushDay(running.day, growing);
      await this.#push(running, dayAfter(running.day), growing);
    }
    const { doneThrough } = file.state;
    const asked = from ?? (doneThrough === null ? firstOfLastMonth() : dayAfter(doneThrough));
    const first = continues && from !== undefined ? dayAfter(running.to) : asked;
    if (first <= last) await this.#push({ from: first, to: last }, first, growing);
    const late = Object.keys(days).filter((day) => day >= (from ?? day) && day <= (to ?? day));
    for (const day of late.sort())
      if ((file.state.days[day]?.growth ?? 'over') !== 'over') await this.#pushDay(day, growing);
    await this.#pushCorrections();
    if (this.#parts.amounts === true) await this.#pushAmounts(from ?? firstOfLastMonth(), finalDay);
  }

  /** Sends what is owed for each past month, once. */
  async #pushAmounts(from: string, finalDay: string): Promise<void> {
    const { batch } = this.#parts;
    for (const month of monthsToSend(this.#file.state.amountsThrough, from, finalDay)) {
      const file = this.#amountsFile(month);
      if (!areFixed(file)) await this.#fixAmounts(month);
      const events = fixedAmounts(file);
      for (let at = 0; at < events.length; at += batch) await this.#deliver(events.slice(at, at + batch));
      this.#file.save({ amountsThrough: month });
      forgetAmounts(file);
      this.amounts.push(month);
    }
  }

  /** Saves amounts that include exactly the corrections already sent, whatever is corrected meanwhile. */
  async #fixAmounts(month: string): Promise<void> {
    const { client, source, payerOf } = this.#parts;
    for (let tried = 0; tried < FIXING_TRIES; tried += 1) {
      const events = await amountsOf(client, month, source, payerOf);
      const made = await unsentCorrections(client, this.#sent.ids());
      if (!made.some((correction) => monthOf(correction) === month)) {
        fixAmounts(this.#amountsFile(month), events);
        return;
      }
      await this.#pushCorrections();
    }
    throw new CommandError(`${month} is being corrected right now. Run the same command again later.`);
  }

  #amountsFile(month: string): string {
    return `${this.#file.path}.${month}-amounts`;
  }

  /** Sends all unsent corrections, of any day. */
  async #pushCorrections(): Promise<void> {
    const { client, source, payerOf, batch } = this.#parts;
    await this.#sent.takeOver(client);
    const found = await unsentCorrections(client, this.#sent.ids());
    for (let from = 0; from < found.length; from += batch) {
      const some = found.slice(from, from + batch);
      await this.#deliver(
        some.map((correction) => correctionEvent(correction, source, payerOf, this.#isAmountSent(monthOf(correction)))),
      );
      await this.#sent.add(some.map(idOf));
      this.corrections += some.length;
    }
  }

  #isAmountSent(month: string): boolean {
    return month <= (this.#file.state.amountsThrough ?? '') || areFixed(this.#amountsFile(month));
  }

  /** Asks the gateway, which may be waiting for the counts of another one. */
  async #growing(): Promise<Growing> {
    const found = await this.#parts.client.ask('GET', '/admin/v1/usage/gateways');
    return {
      openFrom: String(found['openFrom']),
      without: listIn(found, 'without').map(({ from, to }) => ({ from: String(from), to: String(to) })),
    };
  }

  async #push({ from, to }: Days, first: string, growing: Growing): Promise<void> {
    const file = this.#file;
    for (const day of await this.#daysIn(first, to, growing)) {
      const { days } = file.state;
      const growth = days[day] !== undefined || mayGrow(day, growing) ? 'possible' : 'none';
      const begun = { bytes: days[day]?.bytes ?? 0, sent: 0, growth } as const;
      file.save({ running: { from, to, day }, days: { ...days, [day]: begun } });
      await this.#pushDay(day, growing);
    }
    this.ranges.push({ from, to });
    // A range that ends before `doneThrough`, or leaves a gap after it, does not move it.
    const { doneThrough } = file.state;
    const isDetached = doneThrough !== null && (from > dayAfter(doneThrough) || to < doneThrough);
    file.save({ running: null, doneThrough: isDetached ? doneThrough : to });
  }

  /** Skips days without anything to send, now or later: a separate report for each day would be slow. */
  async #daysIn(first: string, last: string, growing: Growing): Promise<readonly string[]> {
    const all = [...daysFrom(first, last)];
    if (all.length < 2) return all;
    const active = new Set<string>();
    const { client } = this.#parts;
    for await (const row of readLedger(client, { from: first, to: last, by: 'day' })) active.add(row.get('day')!);
    return all.filter((day) => active.has(day) || this.#file.state.days[day] !== undefined || mayGrow(day, growing));
  }

  /** Sends what is not yet acknowledged of a day, and its growth since. */
  async #pushDay(day: string, growing: Growing): Promise<void> {
    const known = this.#file.state.days[day]!;
    const journal = `${this.#file.path}.${day}`;
    const isWhole = known.bytes > 0 && known.growth === 'none';
    const bytes = isWhole ? known.bytes : await appendGrowth(journal, known.bytes, this.#rowsOf(day, known.bytes > 0));
    if (known.bytes > 0 && bytes > known.bytes) this.corrected.push(day);
    const isRevised = await this.#send(day, journal, { ...known, bytes });
    const isOpen = mayGrow(day, growing);
    // Without later growth, the ledger alone gives the same events again.
    const isKept = isOpen || isRevised;
    this.#file.saveDay(day, isKept ? { bytes, sent: bytes, growth: isOpen ? 'possible' : 'over' } : null);
    if (!isKept) rmSync(journal, { force: true });
  }

  async *#rowsOf(day: string, wasSent: boolean): AsyncGenerator<LedgerRow, void> {
    const { client, by } = this.#parts;
    for await (const row of readLedger(client, { from: day, to: day, by })) {
      if (!wasSent && row.get('final') !== 'true')
        throw new CommandError(
          `${day} is final by this machine's clock, but not by the gateway's; or a gateway returned with counts of ` +
            'earlier days. Check "petgate usage gateways" and the clocks, then run the same command again.',
        );
      yield row;
    }
  }

  /** Sends what follows `sent`, and saves the progress after each batch. Resolves to whether a group has revisions. */
  async #send(day: string, journal: string, known: PushedDay): Promise<boolean> {
    const { source, payerOf, batch, progress } = this.#parts;
    const { bytes, sent } = known;
    this.#file.saveDay(day, known);
    let waiting: UsageEvent[] = [];
    let isRevised = false;
    for await (const { row, revision, end } of readJournal(journal, bytes)) {
      isRevised ||= revision > 1;
      if (end <= sent) continue;
      waiting.push(eventOf(row, source, payerOf, revision));
      if (waiting.length < batch && end < bytes) continue;
      await this.#deliver(waiting);
      this.#file.saveDay(day, { ...known, sent: end });
      progress.show(end / bytes, `${this.events} events, ${day}`);
      waiting = [];
    }
    return isRevised;
  }

  async #deliver(events: readonly UsageEvent[]): Promise<void> {
    const { receiver, progress } = this.#parts;
    await deliver(receiver, events, (message) => {
      progress.end();
      process.stderr.write(`${message}\n`);
    });
    this.events += events.length;
  }
}

function mayGrow(day: string, { openFrom, without }: Growing): boolean {
  return day >= openFrom || without.some(({ from, to }) => from <= day && day <= to);
}

function dayAfter(day: string): string {
  return dayOf(Date.parse(day) + DAY_MS);
}

function dayBefore(day: string): string {
  return dayOf(Date.parse(day) - DAY_MS);
}

function earlier(a: string, b: string): string {
  return a < b ? a : b;
}

function firstOfLastMonth(): string {
  const now = new Date();
  return dayOf(Date.UTC(now.getUTCFullYear(), now.getUTCMonth() - 1, 1));
}
