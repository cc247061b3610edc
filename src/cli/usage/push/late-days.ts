import { rmSync } from 'node:fs';
import { readLedger } from '../ledger.js';
import { batchesOf } from './batches.js';
import type { Batch } from './batches.js';
import { eventOf } from './event.js';
import { grown } from './growth.js';
import { eventsIn, readJournal, writeJournal } from './journal.js';
import type { Entry } from './journal.js';
import type { PushParts } from './parts.js';
import { keepFolder } from './state.js';
import type { LateDay, StateFile } from './state.js';
import { daysFrom } from '../../../shared/utc-day.js';

/** UTC days, both included. */
export interface Days {
  readonly from: string;
  readonly to: string;
}

/** Which days may grow: those from `openFrom` on, and those `without` a gateway. */
export interface Growing {
  readonly openFrom: string;
  readonly without: readonly Days[];
}

/**
 * Days that became final without a gateway, and may grow when it comes back. Day mode: a journal for each
 * records what is sent of each group. It is written before anything of it is sent, so that an id has one
 * content whenever the push is killed; what the ledger has more afterwards is sent as an event of its own.
 * Cumulative mode: they are sent anew while they may grow.
 */
export class LateDays {
  readonly #parts: PushParts;
  readonly #file: StateFile;
  readonly #deliver: (batch: Batch, days: Days) => Promise<void>;
  /** Days of which something came after they were sent. */
  readonly corrected: string[] = [];

  constructor(parts: PushParts, file: StateFile, deliver: (batch: Batch, days: Days) => Promise<void>) {
    this.#parts = parts;
    this.#file = file;
    this.#deliver = deliver;
  }

  /** The late days once a range is started: those in it are due. */
  including({ from, to }: Days, { without }: Growing): Readonly<Record<string, LateDay>> {
    const late = { ...this.#file.state.late };
    for (const day of daysFrom(from, to)) {
      const isLate = without.some((days) => days.from <= day && day <= days.to);
      if (isLate || late[day] !== undefined) late[day] = { journal: late[day]?.journal ?? 0, due: 'all' };
    }
    return late;
  }

  /** Whether the ledger's rows of this day are left to its journal. */
  has(day: string): boolean {
    return this.#parts.mode === 'day' && this.#file.state.late[day] !== undefined;
  }

  /** Hands over the rest of the journal that was left unfinished. */
  async resume(): Promise<void> {
    const { sending, late } = this.#file.state;
    if (sending === null) return;
    const { day, after } = sending;
    const journal = this.#pathOf(day, late[day]!.journal);
    const events = eventsIn(journal, this.#parts.source, this.#parts.payerOf);
    for await (const batch of batchesOf(events, this.#parts.batch, after)) {
      await this.#deliver(batch, { from: day, to: day });
      if (batch.after !== this.#file.state.sending?.after) this.#file.save({ sending: { day, after: batch.after } });
    }
    this.#file.save({ sending: null });
  }

  /** Sends what is due of the days between these; undefined: of all. */
  async run(from: string | undefined, to: string | undefined, growing: Growing): Promise<void> {
    for (const [day, { due }] of Object.entries(this.#file.state.late).sort(([a], [b]) => (a < b ? -1 : 1))) {
      if (due === 'nothing' || day < (from ?? day) || day > (to ?? day)) continue;
      const mayGrow = day >= growing.openFrom || growing.without.some((days) => days.from <= day && day <= days.to);
      if (this.#parts.mode === 'day') await this.#sendGrown(day, mayGrow);
      else await this.#sendAnew(day, mayGrow);
    }
  }

  async #sendGrown(day: string, mayGrow: boolean): Promise<void> {
    const { journal, due } = this.#file.state.late[day]!;
    // A kill may have left the one before.
    this.#remove(day, journal - 1);
    const before = journal === 0 ? none() : readJournal(this.#pathOf(day, journal));
    const { pending } = await this.#write(day, journal + 1, grown(before, this.#rowsOf(day), due === 'all'));
    if (pending === 0 && !mayGrow) {
      await this.#close(day, journal);
      return;
    }
    // From here on the next journal holds.
    this.#file.save({
      late: this.#lateWith(day, { journal: journal + 1, due: 'more' }),
      sending: pending === 0 ? null : { day, after: null },
    });
    this.#remove(day, journal);
    if (pending > 0 && due === 'more') this.corrected.push(day);
    await this.resume();
  }

  /** Nothing can change any more: the ledger shows what was sent of a group that never grew, and the journal keeps the others. */
  async #close(day: string, journal: number): Promise<void> {
    const all = readJournal(this.#pathOf(day, journal + 1));
    const { kept } = await this.#write(
      day,
      journal + 2,
      (async function* () {
        for await (const entry of all) if (entry.totals.length > 1) yield entry;
      })(),
    );
    this.#file.save({ late: this.#lateWith(day, kept === 0 ? null : { journal: journal + 2, due: 'nothing' }) });
    for (const old of kept === 0 ? [0, 1, 2] : [0, 1]) this.#remove(day, journal + old);
  }

  /** Writes a journal; gives how many events in it wait to be sent, and how many groups it has. */
  async #write(
    day: string,
    journal: number,
    entries: AsyncIterable<Entry>,
  ): Promise<{ readonly pending: number; readonly kept: number }> {
    let [pending, kept] = [0, 0];
    const path = this.#pathOf(day, journal);
    await writeJournal(
      path,
      (async function* () {
        for await (const entry of entries) {
          pending += entry.totals.length - entry.sent;
          kept += 1;
          yield entry;
        }
      })(),
    );
    keepFolder(path);
    return { pending, kept };
  }

  #remove(day: string, journal: number): void {
    rmSync(this.#pathOf(day, journal), { force: true });
  }

  async #sendAnew(day: string, mayGrow: boolean): Promise<void> {
    const { mode, source, batch, payerOf } = this.#parts;
    const { due } = this.#file.state.late[day]!;
    if (due === 'more') {
      const rows = this.#rowsOf(day);
      const events = (async function* () {
        for await (const row of rows) yield { key: row.get('key')!, event: eventOf(row, mode, source, 1, payerOf) };
      })();
      for await (const each of batchesOf(events, batch, null)) await this.#deliver(each, { from: day, to: day });
    }
    // All of it was in the range that has just been sent, though some keys of it perhaps before a stop.
    this.#file.save({ late: this.#lateWith(day, due === 'all' || mayGrow ? { journal: 0, due: 'more' } : null) });
  }

  #lateWith(day: string, changed: LateDay | null): Readonly<Record<string, LateDay>> {
    const others = Object.entries(this.#file.state.late).filter(([name]) => name !== day);
    return Object.fromEntries(changed === null ? others : [...others, [day, changed]]);
  }

  #rowsOf(day: string): ReturnType<typeof readLedger> {
    return readLedger(this.#parts.client, { from: day, to: day, by: this.#parts.by });
  }

  #pathOf(day: string, journal: number): string {
    return `${this.#file.path}.${day}.${journal}`;
  }
}

async function* none(): AsyncGenerator<Entry, void> {
  // Nothing was sent of the day so far.
}
