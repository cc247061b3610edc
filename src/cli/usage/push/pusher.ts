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

/** As the report has it: an hour after its end a day changes no more. */
const SETTLE_MS = 3_600_000;
/** How often to compute the amounts of a month again that is being corrected. */
const FIXING_TRIES = 5;

/** UTC days, both included. */
interface Days {
  readonly from: string;
  readonly to: string;
}

/** Which days may grow: those from `openFrom` on, and those `without` a gateway. */
interface Growing {
  readonly openFrom: string;
  readonly without: readonly Days[];
}

/** What is pushed where. */
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
  /** Whether months that are over are sent with what is owed for them. */
  readonly amounts?: boolean;
  readonly progress: Progress;
}

/**
 * Hands over the ledger, day by day. What is to be sent of a day is written into a journal first, and after each
 * acknowledged batch the state says how much of that is done: an id has one content whenever the push is killed, and a
 * kill costs one batch sent twice. The journal of a day that became final without a gateway stays while it may grow;
 * what the ledger has more later is an event of its own.
 */
export class Pusher {
  readonly #parts: PushParts;
  readonly #file: StateFile;
  readonly #sent: SentCorrections;
  /** Acknowledged. */
  events = 0;
  /** What was pushed, in order. */
  readonly ranges: Days[] = [];
  /** Months of which amounts were sent. */
  readonly amounts: string[] = [];
  /** Corrections among the events. */
  corrections = 0;
  /** Days pushed before of which more came. */
  readonly corrected: string[] = [];

  constructor(parts: PushParts) {
    this.#parts = parts;
    this.#file = new StateFile(parts.stateFile);
    this.#sent = new SentCorrections(this.#file);
  }

  /** First the range that was left unfinished, then the days asked for. What was done stays done. */
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

  /** What is owed for each month that is over, once. */
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

  /** So that they include the very corrections that were sent before, whatever is corrected meanwhile. */
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
    throw new CommandError(`${month} is being corrected just now. Run the same command again later.`);
  }

  #amountsFile(month: string): string {
    return `${this.#file.path}.${month}-amounts`;
  }

  /** Whatever day they are of. */
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

  /** As the gateway has it: it may wait for the counts of another one. */
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
    // Days before the one known so far stay done; a range that leaves a gap behind them doesn't move it.
    const { doneThrough } = file.state;
    const isBeside = doneThrough !== null && (from > dayAfter(doneThrough) || to < doneThrough);
    file.save({ running: null, doneThrough: isBeside ? doneThrough : to });
  }

  /** Those of which there is, or may come, something to send: a report of its own for each day takes its time. */
  async #daysIn(first: string, last: string, growing: Growing): Promise<readonly string[]> {
    const all = [...daysFrom(first, last)];
    if (all.length < 2) return all;
    const active = new Set<string>();
    const { client } = this.#parts;
    for await (const row of readLedger(client, { from: first, to: last, by: 'day' })) active.add(row.get('day')!);
    return all.filter((day) => active.has(day) || this.#file.state.days[day] !== undefined || mayGrow(day, growing));
  }

  /** Sends what was not yet acknowledged of a day, and what the ledger has more by now. */
  async #pushDay(day: string, growing: Growing): Promise<void> {
    const known = this.#file.state.days[day]!;
    const journal = `${this.#file.path}.${day}`;
    const isWhole = known.bytes > 0 && known.growth === 'none';
    const bytes = isWhole ? known.bytes : await appendGrowth(journal, known.bytes, this.#rowsOf(day, known.bytes > 0));
    if (known.bytes > 0 && bytes > known.bytes) this.corrected.push(day);
    const isRevised = await this.#send(day, journal, { ...known, bytes });
    const isOpen = mayGrow(day, growing);
    // Where nothing was added later, the ledger alone says it all again.
    const isKept = isOpen || isRevised;
    this.#file.saveDay(day, isKept ? { bytes, sent: bytes, growth: isOpen ? 'possible' : 'over' } : null);
    if (!isKept) rmSync(journal, { force: true });
  }

  async *#rowsOf(day: string, wasSent: boolean): AsyncGenerator<LedgerRow, void> {
    const { client, by } = this.#parts;
    for await (const row of readLedger(client, { from: day, to: day, by })) {
      if (!wasSent && row.get('final') !== 'true')
        throw new CommandError(
          `${day} is not final by the gateway's clock, though it is by this machine's, or a gateway came back ` +
            'with counts of days before. See "petgate usage gateways" and the clock, then run the same command ' +
            'again.',
        );
      yield row;
    }
  }

  /** Sends what follows `sent`, and saves how far it is after each batch. Gives whether a group has several events. */
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
