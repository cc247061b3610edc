import { rmSync } from 'node:fs';
import { listIn, type AdminClient } from '../../admin/admin-client.js';
import { CommandError } from '../../terminal/command-error.js';
import type { Progress } from '../../terminal/progress.js';
import { DAY_MS, dayOf, daysFrom, isDay } from '../../../shared/utc-day.js';
import { readLedger } from '../ledger.js';
import { amountsOf, monthsToSend } from './amounts.js';
import { correctionEvent, monthOf, unsentCorrections } from './unsent-corrections.js';
import { deliver, type Receiver } from './deliver.js';
import { eventOf, parseEvent, sumsOf, type Sum, type UsageEvent } from './event.js';
import { appendEvents, readEvents } from './event-file.js';
import type { Payers } from './payers.js';
import { StateFile } from './state.js';

/** As in the report: a day no longer changes an hour after its end. */
const SETTLE_MS = 3_600_000;
/** Attempts to compute the amounts of a month that is being corrected. */
const FIXING_TRIES = 5;
/** Version 0.3 read this last part of the corrections again. */
const OVERLAP_MS = 600_000;

/** UTC days, both included. */
interface Days {
  readonly from: string;
  readonly to: string;
}

interface PushParts {
  readonly client: AdminClient;
  readonly receiver: Receiver;
  /** Begins with `key,day`. */
  readonly by: string;
  readonly source: string;
  readonly payers: Payers;
  /** Events per request. */
  readonly batch: number;
  readonly stateFile: string;
  /** Whether to send what is owed for past months. */
  readonly amounts: boolean;
  readonly progress: Progress;
}

/**
 * Sends the ledger day by day, then late counts, corrections and amounts. Writes events to a file first, and saves its
 * progress after each acknowledged batch: an event ID keeps its content, and a kill costs at most one batch sent twice.
 * Keeps the file of a day that became final without a gateway: later counts of a group are the difference to it.
 */
export class Pusher {
  readonly #parts: PushParts;
  readonly #file: StateFile;
  #mayGrow: (day: string) => boolean = () => false;
  readonly done = {
    /** Number of acknowledged events. */
    events: 0,
    ranges: [] as Days[],
    /** Days pushed earlier that have grown. */
    corrected: [] as string[],
    /** Number of corrections among the events. */
    corrections: 0,
    /** Months whose amounts were sent. */
    amounts: [] as string[],
  };

  constructor(parts: PushParts) {
    this.#parts = parts;
    this.#file = new StateFile(parts.stateFile);
  }

  async run(from: string | undefined, to: string | undefined): Promise<void> {
    const file = this.#file;
    const isAsked = (day: string): boolean => day >= (from ?? day) && day <= (to ?? day);
    const finalDay = earlier(dayOf(Date.now() - SETTLE_MS - DAY_MS), await this.#lastClosedDay());
    const mayHaveGrown = Object.keys(file.state.files).filter(isAsked).sort();
    await this.#pushRanges(from, earlier(to ?? finalDay, finalDay), to);
    for (const day of mayHaveGrown) if (file.fileOf(day).growth === 'possible') await this.#pushDay(day);
    await this.#pushCorrections();
    if (this.#parts.amounts)
      for (const month of monthsToSend(file.state.amountsThrough, from ?? firstOfLastMonth(), finalDay))
        await this.#pushAmounts(month);
  }

  /** Finishes an interrupted range first. */
  async #pushRanges(from: string | undefined, last: string, to: string | undefined): Promise<void> {
    const file = this.#file;
    const { running } = file.state;
    const continues = running !== null && (from ?? running.from) === running.from && (to ?? running.to) === running.to;
    if (continues) await this.#pushDays(running, running.day);
    const { doneThrough } = file.state;
    const asked = from ?? (doneThrough === null ? firstOfLastMonth() : dayAfter(doneThrough));
    const first = continues && from !== undefined ? dayAfter(running.to) : asked;
    if (first > last) return;
    file.save({ running: { from: first, to: last, day: first } });
    for (const topic of Object.keys(file.state.files))
      if (isDay(topic) && topic >= first && topic <= last) file.saveFile(topic, { sent: 0 });
    await this.#pushDays({ from: first, to: last }, first);
  }

  /** Asks the gateway, which may be waiting for the counts of another one. */
  async #lastClosedDay(): Promise<string> {
    const found = await this.#parts.client.ask('GET', '/admin/v1/usage/gateways');
    const openFrom = String(found['openFrom']);
    const without = listIn(found, 'without');
    this.#mayGrow = (day) =>
      day >= openFrom || without.some(({ from, to }) => String(from) <= day && day <= String(to));
    return dayAfter(openFrom, -1);
  }

  async #pushDays({ from, to }: Days, first: string): Promise<void> {
    const file = this.#file;
    for (const day of await this.#daysIn(first, to)) await this.#pushDay(day, { from, to, day: dayAfter(day) });
    this.done.ranges.push({ from, to });
    // A range that ends before `doneThrough`, or leaves a gap after it, does not move it.
    const { doneThrough } = file.state;
    const isDetached = doneThrough !== null && (from > dayAfter(doneThrough) || to < doneThrough);
    file.save({ running: null, doneThrough: isDetached ? doneThrough : to });
  }

  /** Skips days without anything to send, now or later: a separate report for each day would be slow. */
  async #daysIn(first: string, last: string): Promise<readonly string[]> {
    const all = [...daysFrom(first, last)];
    if (all.length < 2) return all;
    const active = new Set<string>();
    const { client } = this.#parts;
    for await (const row of readLedger(client, { from: first, to: last, by: 'day' })) active.add(row.get('day')!);
    return all.filter((day) => active.has(day) || this.#file.state.files[day] !== undefined || this.#mayGrow(day));
  }

  /** Sends what is not yet acknowledged of a day, and its growth since. @param next where a running range continues */
  async #pushDay(day: string, next?: StateFile['state']['running']): Promise<void> {
    const file = this.#file;
    const wasSent = file.fileOf(day).bytes > 0;
    const sums = await sumsOf(this.#read(day));
    const hasGrown = (await this.#write(day, this.#eventsOf(day, sums, wasSent))) && wasSent;
    if (hasGrown) this.done.corrected.push(day);
    const isOpen = this.#mayGrow(day);
    if (isOpen) file.saveFile(day, { growth: 'possible' });
    await this.#send(day);
    // Without later growth, the ledger alone gives the same events again.
    const isKept = isOpen || hasGrown || [...sums.values()].some(({ revision }) => revision > 1);
    const change = isKept ? ({ growth: isOpen ? 'possible' : 'over' } as const) : null;
    file.saveFile(day, change, next === undefined ? {} : { running: next });
    if (!isKept) rmSync(this.#pathOf(day), { force: true });
  }

  async *#eventsOf(day: string, sums: ReadonlyMap<string, Sum>, wasSent: boolean): AsyncGenerator<UsageEvent, void> {
    const { client, by, source, payers } = this.#parts;
    for await (const row of readLedger(client, { from: day, to: day, by })) {
      if (!wasSent && row.get('final') !== 'true')
        throw new CommandError(
          `${day} is final by this machine's clock, but not by the gateway's; or a gateway returned with counts of ` +
            'earlier days. Check "petgate usage gateways" and the clocks, then run the same command again.',
        );
      const event = eventOf(row, source, payers, (group) => sums.get(group));
      if (event !== undefined) yield event;
    }
  }

  /** Sends all unsent corrections, of any day. */
  async #pushCorrections(): Promise<void> {
    const file = this.#file;
    const unsent = await this.#unsentCorrections();
    const { amountsThrough, files, corrections: before } = file.state;
    const isAmountSent = (month: string): boolean => month <= (amountsThrough ?? '') || amountsOfMonth(month) in files;
    const { source, payers } = this.#parts;
    const events = unsent.map((one) => correctionEvent(one, source, payers, isAmountSent(monthOf(one))));
    if (before !== null) {
      const since = new Date(Date.parse(before.to) - OVERLAP_MS).toISOString();
      const sent = events.filter(({ id, data }) => String(data['at']) <= since || before.ids.includes(id));
      await this.#write(CORRECTIONS, sent);
      file.saveFile(CORRECTIONS, { sent: file.fileOf(CORRECTIONS).bytes }, { corrections: null });
      return this.#pushCorrections();
    }
    if (events.length > 0) await this.#write(CORRECTIONS, events);
    this.done.corrections += await this.#send(CORRECTIONS);
  }

  async #unsentCorrections(): ReturnType<typeof unsentCorrections> {
    const sent = new Set<string>();
    for await (const { event } of this.#read(CORRECTIONS)) sent.add(event.id);
    return unsentCorrections(this.#parts.client, sent);
  }

  /** Sends what is owed for a month, once: with exactly the corrections already sent. */
  async #pushAmounts(month: string): Promise<void> {
    const topic = amountsOfMonth(month);
    const { client, source, payers } = this.#parts;
    for (let tried = 0; !(topic in this.#file.state.files); tried += 1) {
      if (tried === FIXING_TRIES)
        throw new CommandError(`${month} is being corrected right now. Run the same command again later.`);
      const events = await amountsOf(client, month, source, payers);
      const made = await this.#unsentCorrections();
      if (made.some((correction) => monthOf(correction) === month)) await this.#pushCorrections();
      else await this.#write(topic, events);
    }
    await this.#send(topic);
    this.#file.saveFile(topic, null, { amountsThrough: month });
    rmSync(this.#pathOf(topic), { force: true });
    this.done.amounts.push(month);
  }

  #pathOf(topic: string): string {
    return `${this.#file.path}.${topic}`;
  }

  #read(topic: string): ReturnType<typeof readEvents> {
    const { source, payers } = this.#parts;
    const { bytes } = this.#file.fileOf(topic);
    return readEvents(this.#pathOf(topic), bytes, (line) => parseEvent(line, source, payers));
  }

  /** Appends events to the file of a topic; resolves to whether there were any. */
  async #write(topic: string, events: Parameters<typeof appendEvents>[2]): Promise<boolean> {
    const { bytes: before } = this.#file.fileOf(topic);
    const bytes = await appendEvents(this.#pathOf(topic), before, events);
    this.#file.saveFile(topic, { bytes });
    return bytes > before;
  }

  /** Sends what is not yet acknowledged of a topic, and saves the progress after each batch; resolves to its number. */
  async #send(topic: string): Promise<number> {
    const { receiver, batch, progress } = this.#parts;
    const { bytes, sent } = this.#file.fileOf(topic);
    const { done } = this;
    const before = done.events;
    let waiting: UsageEvent[] = [];
    for await (const { event, end } of this.#read(topic)) {
      if (end <= sent) continue;
      waiting.push(event);
      if (waiting.length < batch && end < bytes) continue;
      await deliver(receiver, waiting, (message) => {
        progress.end();
        process.stderr.write(`${message}\n`);
      });
      done.events += waiting.length;
      this.#file.saveFile(topic, { sent: end });
      progress.show(end / bytes, `${done.events} events, ${topic}`);
      waiting = [];
    }
    return done.events - before;
  }
}

/** The topic of all corrections. That of a day is the day. */
const CORRECTIONS = 'corrections';

function amountsOfMonth(month: string): string {
  return `${month}-amounts`;
}

function dayAfter(day: string, count = 1): string {
  return dayOf(Date.parse(day) + count * DAY_MS);
}

function earlier(a: string, b: string): string {
  return a < b ? a : b;
}

function firstOfLastMonth(): string {
  const now = new Date();
  return dayOf(Date.UTC(now.getUTCFullYear(), now.getUTCMonth() - 1, 1));
}
