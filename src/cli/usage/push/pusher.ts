import { listIn, type AdminClient } from '../../admin/admin-client.js';
import { CommandError } from '../../terminal/command-error.js';
import type { Progress } from '../../terminal/progress.js';
import { DAY_MS, dayOf, daysFrom, isDay } from '../../../shared/utc-day.js';
import { lastDayOf, monthStartMs } from '../../../shared/utc-month.js';
import { readLedger } from '../ledger.js';
import { deliver, type Receiver } from './deliver.js';
import { amountEvent, correctionEvent, parseEvent, sumsOf, usageEvent } from './event.js';
import type { Origin, Sums, UsageEvent } from './event.js';
import { PushFiles } from './push-files.js';

/** As in the report: a day no longer changes an hour after its end. */
const SETTLE_MS = 3_600_000;
/** Attempts to compute the amounts of a month that is being corrected. */
const FIXING_TRIES = 5;
/** Version 0.3 read this last part of the corrections again. */
const OVERLAP_MS = 600_000;
/** The topic of all corrections. That of a day is the day. */
const CORRECTIONS = 'corrections';

export interface PushParts extends Origin, Receiver {
  readonly client: AdminClient;
  readonly from?: string;
  readonly toDay?: string;
  readonly by: string;
  readonly batch: number;
  readonly stateFile: string;
  readonly amounts?: true;
  readonly progress: Progress;
}

type Running = NonNullable<PushFiles['state']['running']>;

/**
 * Sends the ledger day by day, then late counts, corrections and amounts. Writes events to a file first, and saves its
 * progress after each acknowledged batch: an event ID keeps its content, and a kill costs at most one batch sent twice.
 * Keeps the file of a day that became final without a gateway: later counts of a group are the difference to it.
 */
export class Pusher {
  readonly #parts: PushParts;
  readonly #files: PushFiles;
  #mayGrow: (day: string) => boolean = () => false;
  /** What was acknowledged: numbers of events, and of corrections among them; days and months. */
  readonly done = {
    events: 0,
    ranges: [] as Omit<Running, 'day'>[],
    /** Days pushed earlier that have grown. */
    corrected: [] as string[],
    corrections: 0,
    amounts: [] as string[],
  };

  constructor(parts: PushParts) {
    this.#parts = parts;
    this.#files = new PushFiles(parts.stateFile, (line) => parseEvent(line, parts));
  }

  async run(): Promise<void> {
    const { client, from = '', toDay, amounts } = this.#parts;
    // The gateway may be waiting for the counts of another one.
    const found = await client.ask('GET', '/admin/v1/usage/gateways');
    const [openFrom, without] = [String(found['openFrom']), listIn(found, 'without')];
    this.#mayGrow = (day) =>
      day >= openFrom || without.some(({ from, to }) => String(from) <= day && day <= String(to));
    const finalDay = dayOf(Math.min(Date.now() - SETTLE_MS, Date.parse(openFrom)) - DAY_MS);
    const asked = Object.keys(this.#files.state.files).filter((day) => day >= from && day <= (toDay ?? day));
    await this.#pushRanges(toDay !== undefined && toDay < finalDay ? toDay : finalDay);
    for (const day of asked.sort()) if (this.#files.fileOf(day).growth === 'possible') await this.#pushDay(day);
    await this.#pushCorrections();
    if (amounts !== true) return;
    const { amountsThrough } = this.#files.state;
    let month = amountsThrough === null ? (from || firstOfLastMonth()).slice(0, 7) : monthAfter(amountsThrough);
    for (; lastDayOf(month) <= finalDay; month = monthAfter(month)) await this.#pushAmounts(month);
  }

  /** Finishes an interrupted range first. */
  async #pushRanges(last: string): Promise<void> {
    const { from, toDay: to } = this.#parts;
    const { running } = this.#files.state;
    const continues = running !== null && (from ?? running.from) === running.from && (to ?? running.to) === running.to;
    if (continues) await this.#pushRange(running);
    const { doneThrough } = this.#files.state;
    const asked = from ?? (doneThrough === null ? firstOfLastMonth() : dayAfter(doneThrough));
    const first = continues && from !== undefined ? dayAfter(running.to) : asked;
    if (first > last) return;
    const range = { from: first, to: last, day: first };
    this.#files.save({ running: range });
    for (const topic of Object.keys(this.#files.state.files))
      if (isDay(topic) && topic >= first && topic <= last) this.#files.saveFile(topic, { sent: 0 });
    await this.#pushRange(range);
  }

  async #pushRange({ from, to, day: first }: Running): Promise<void> {
    const days = [...daysFrom(first, to)];
    const active = new Set(days.length > 1 ? [] : days);
    // Skips days without anything to send, now or later: a separate report for each day would be slow.
    if (days.length > 1)
      for await (const { day = '' } of readLedger(this.#parts.client, { from: first, to, by: 'day' })) active.add(day);
    for (const day of days)
      if (active.has(day) || day in this.#files.state.files || this.#mayGrow(day))
        await this.#pushDay(day, { from, to, day: dayAfter(day) });
    this.done.ranges.push({ from, to });
    // A range that ends before `doneThrough`, or leaves a gap after it, does not move it.
    const { doneThrough } = this.#files.state;
    const isDetached = doneThrough !== null && (from > dayAfter(doneThrough) || to < doneThrough);
    this.#files.save({ running: null, doneThrough: isDetached ? doneThrough : to });
  }

  /** Sends what is not yet acknowledged of a day, and its growth since. @param running where its range continues */
  async #pushDay(day: string, running?: Running): Promise<void> {
    const wasSent = this.#files.fileOf(day).bytes > 0;
    const sums = await sumsOf(this.#files.read(day));
    const hasGrown = (await this.#files.append(day, this.#eventsOf(day, sums, wasSent))) && wasSent;
    if (hasGrown) this.done.corrected.push(day);
    const isOpen = this.#mayGrow(day);
    if (isOpen) this.#files.saveFile(day, { growth: 'possible' });
    await this.#send(day);
    // Without later growth, the ledger alone gives the same events again.
    const isKept = isOpen || hasGrown || [...sums.values()].some((sum) => Number(sum['revision']) > 1);
    const growth = isOpen ? 'possible' : 'over';
    this.#files.saveFile(day, isKept ? { growth } : null, running === undefined ? {} : { running });
  }

  async *#eventsOf(day: string, sums: Sums, wasSent: boolean): AsyncGenerator<UsageEvent, void> {
    const { client, by } = this.#parts;
    for await (const row of readLedger(client, { from: day, to: day, by })) {
      if (!wasSent && row['final'] !== 'true')
        throw new CommandError(
          `${day} is final by this machine's clock, but not by the gateway's; or a gateway returned with counts of ` +
            'earlier days. Check "petgate usage gateways" and the clocks, then run the same command again.',
        );
      const event = usageEvent(row, sums, this.#parts);
      if (event !== undefined) yield event;
    }
  }

  /**
   * Sends all unsent corrections, of any day; resolves to those that were new. IDs decide which, not times: the clock
   * that dated a correction may have been behind.
   */
  async #pushCorrections(): Promise<readonly UsageEvent[]> {
    const known = new Set<string>();
    for await (const { event } of this.#files.read(CORRECTIONS)) known.add(event.id);
    const { amountsThrough, files: topics, corrections: before } = this.#files.state;
    const isAmountSent = (month: string): boolean => month <= (amountsThrough ?? '') || amountsOfMonth(month) in topics;
    const page = await this.#parts.client.askAll('/admin/v1/usage/corrections', new URLSearchParams(), 'corrections');
    let unsent = listIn(page, 'corrections')
      .map((correction) => correctionEvent(correction, isAmountSent, this.#parts))
      .filter(({ id }) => !known.has(id))
      .sort((a, b) => (String(a.data['at']) < String(b.data['at']) ? -1 : 1));
    if (before !== null) {
      const since = new Date(Date.parse(before.to) - OVERLAP_MS).toISOString();
      const isSent = ({ id, data }: UsageEvent): boolean => String(data['at']) <= since || before.ids.includes(id);
      await this.#files.append(CORRECTIONS, unsent.filter(isSent));
      this.#files.saveFile(CORRECTIONS, { sent: this.#files.fileOf(CORRECTIONS).bytes }, { corrections: null });
      unsent = unsent.filter((event) => !isSent(event));
    }
    if (unsent.length > 0) await this.#files.append(CORRECTIONS, unsent);
    this.done.corrections += await this.#send(CORRECTIONS);
    return unsent;
  }

  /** Sends what is owed for a month, once: with exactly the corrections already sent. */
  async #pushAmounts(month: string): Promise<void> {
    const topic = amountsOfMonth(month);
    const days = { from: `${month}-01`, to: lastDayOf(month), by: 'customer,plan' };
    const query = { ...days, amounts: 'true', corrections: 'true' };
    for (let tried = 0; !(topic in this.#files.state.files); tried += 1) {
      if (tried === FIXING_TRIES)
        throw new CommandError(`${month} is being corrected right now. Run the same command again later.`);
      const events: UsageEvent[] = [];
      for await (const row of readLedger(this.#parts.client, query)) {
        if (row['final'] !== 'true')
          throw new CommandError(`${month} is not final by the gateway's clock. Run the same command again later.`);
        events.push(amountEvent(row, month, this.#parts));
      }
      const made = await this.#pushCorrections();
      if (!made.some(({ data }) => String(data['day']).startsWith(month))) await this.#files.append(topic, events);
    }
    await this.#send(topic);
    this.#files.saveFile(topic, null, { amountsThrough: month });
    this.done.amounts.push(month);
  }

  /** Sends what is not yet acknowledged of a topic, and saves the progress after each batch; resolves to its number. */
  async #send(topic: string): Promise<number> {
    const { batch, progress } = this.#parts;
    const { bytes, sent } = this.#files.fileOf(topic);
    const { done } = this;
    const before = done.events;
    let waiting: UsageEvent[] = [];
    for await (const { event, end } of this.#files.read(topic, sent)) {
      waiting.push(event);
      if (waiting.length < batch && end < bytes) continue;
      await deliver(this.#parts, waiting, (message) => {
        progress.end();
        process.stderr.write(`${message}\n`);
      });
      done.events += waiting.length;
      this.#files.saveFile(topic, { sent: end });
      progress.show(end / bytes, `${done.events} events, ${topic}`);
      waiting = [];
    }
    return done.events - before;
  }
}

function amountsOfMonth(month: string): string {
  return `${month}-amounts`;
}

function dayAfter(day: string): string {
  return dayOf(Date.parse(day) + DAY_MS);
}

function monthAfter(month: string): string {
  return dayAfter(lastDayOf(month)).slice(0, 7);
}

function firstOfLastMonth(): string {
  return dayOf(monthStartMs(monthStartMs(Date.now()) - 1));
}
