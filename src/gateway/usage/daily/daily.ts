import { setTimeout as pause } from 'node:timers/promises';
import type { AdmissionEngine } from '../../store/port.js';
import { withoutOn } from '../../store/finality.js';
import { dayOf, daysFrom, DAY_MS } from '../../../shared/utc-day.js';
import { monthStartMs } from '../../../shared/utc-month.js';
import type { Ledger } from '../grouping/groups.js';
import type { ReportRange } from '../grouping/range.js';
import { reportIn } from '../grouping/report-rows.js';
import { DayBuilder, Names, type DayRows } from './day-rows.js';
import type { Days } from './summed.js';

/** Most rows in memory: about 60 MB. Beyond that, the earliest days are dropped and not read again. */
const MAX_ROWS = 3_000_000;
/** Most rows per reading, which takes about 64 bytes for each. A day with more is not read. */
const ROWS_AT_ONCE = 500_000;
const DAYS_AT_ONCE = 8;
/** Days are read again after this time, even if nothing is known to have changed them. */
const KEPT_MS = DAY_MS;
const CHECK_MS = 600_000;
/** How long after the first page the days of this month and the two before it are read. */
const WARM_UP_MS = 5_000;
/** How long a page waits for days that are being read. */
const WAIT_MS = 400;
/** Open days are read again after this multiple of the time that reading them took. */
const REUSE_FACTOR = 20;
const MAX_REUSE_MS = 60_000;

interface CachedDay {
  readonly rows: DayRows;
  readonly readAtMs: number;
  /** Gateways whose counts were missing then; if one of them is back, the day may have changed. */
  readonly without: string;
}

interface Open {
  readonly days: readonly string[];
  readonly rows: Promise<readonly DayRows[]>;
  untilMs: number;
}

interface DailyParts {
  readonly engine: Pick<AdmissionEngine, 'usage' | 'days' | 'transfer'>;
  /** Creates a report from store and archive in another process; if absent, days are read here, from the store. */
  readonly report?: (format: 'rows', range: ReportRange) => AsyncIterable<string | Buffer>;
  /** Tests only. */
  readonly maxRows?: number;
}

type DayRange = Pick<ReportRange, 'from' | 'to' | 'openFrom' | 'without'>;

/**
 * The ledger by day, in memory, for pages: never for bills and files. Final days are read once, in the background, and
 * again when the store was imported to or accepted, a gateway that was given up is back, or a day has passed. Days that
 * may still grow are read for each page, at most every few seconds.
 */
export class DailyUsage {
  readonly #parts: DailyParts;
  readonly #maxRows: number;
  #names = new Names();
  readonly #days = new Map<string, CachedDay>();
  #revision = '';
  #rowCount = 0;
  /** The latest day that has no room; those before are not read either. */
  #floor = '';
  /** Rows of the day that was read last; 0 before the first. */
  #perDay = 0;
  readonly #wanted = new Set<string>();
  #reading: Promise<void> | null = null;
  #open: Open | null = null;
  #keepOnce: (() => void) | undefined;

  constructor(parts: DailyParts) {
    this.#parts = parts;
    this.#maxRows = parts.maxRows ?? MAX_ROWS;
  }

  /** From the first page on, reads the days of the usual ranges and keeps them up to date. */
  keep(): void {
    const update = (): void => void this.#update().catch(() => undefined);
    this.#keepOnce = () => {
      this.#keepOnce = undefined;
      setTimeout(update, WARM_UP_MS).unref();
      setInterval(update, CHECK_MS).unref();
    };
  }

  /**
   * Returns the days of a range; null if they are not in memory soon, because they are being read or are too many.
   * Rejects with StoreUnavailable.
   */
  async days(asked: DayRange, nowMs: number): Promise<Days | null> {
    const { from, to, openFrom } = asked;
    this.#keepOnce?.();
    await this.#forgetChanged(asked);
    const names = this.#names;
    const final = [...daysFrom(from, to)].filter((day) => day < openFrom);
    if (final.some((day) => day <= this.#floor)) return null;
    for (const day of final) if (!this.#days.has(day)) this.#wanted.add(day);
    if (this.#wanted.size > 0) await Promise.race([this.#read(asked, nowMs), pause(WAIT_MS)]);
    const open = await this.#openDays(openFrom, from, to < dayOf(nowMs) ? to : dayOf(nowMs));
    const found = final.map((day) => ({ day, rows: this.#days.get(day)?.rows }));
    // Rows have numbers in the names that they were read with.
    if (open === null || names !== this.#names || found.some(({ rows }) => rows === undefined)) return null;
    return { names, days: [...(found as Days['days']), ...open] };
  }

  async #update(): Promise<void> {
    const nowMs = Date.now();
    const { openFrom, without } = await this.#parts.engine.days.finality(nowMs);
    const twoBefore = monthStartMs(monthStartMs(monthStartMs(nowMs) - 1) - 1);
    await this.#forgetChanged({ openFrom, without });
    for (const day of daysFrom(dayOf(twoBefore), dayOf(nowMs)))
      if (day < openFrom && day > this.#floor && !this.#isFresh(day, nowMs)) this.#wanted.add(day);
    await this.#read({ openFrom, without }, nowMs);
  }

  #isFresh(day: string, nowMs: number): boolean {
    return nowMs - (this.#days.get(day)?.readAtMs ?? -Infinity) < KEPT_MS;
  }

  /** Forgets days that may have changed since they were read. */
  async #forgetChanged({ openFrom, without = [] }: Pick<DayRange, 'openFrom' | 'without'>): Promise<void> {
    const revision = await this.#parts.engine.transfer.revision();
    if (revision !== this.#revision) {
      this.#revision = revision;
      this.#names = new Names();
      this.#days.clear();
      this.#open = null;
      [this.#rowCount, this.#floor, this.#perDay] = [0, '', 0];
    }
    for (const [day, kept] of this.#days)
      if (day >= openFrom || kept.without !== withoutOn(day, without)) this.#drop(day);
  }

  #drop(day: string): void {
    this.#rowCount -= this.#days.get(day)?.rows.keys.length ?? 0;
    this.#days.delete(day);
  }

  /** Reads all wanted days, the latest first. Pages that want more meanwhile share the reading. */
  #read(asked: Pick<DayRange, 'openFrom' | 'without'>, nowMs: number): Promise<void> {
    this.#reading ??= this.#readWanted(asked, nowMs)
      // The page that needs the days reads the ledger itself, and reports why that fails.
      .catch(() => this.#wanted.clear())
      .finally(() => (this.#reading = null));
    return this.#reading;
  }

  async #readWanted({ openFrom, without = [] }: Pick<DayRange, 'openFrom' | 'without'>, nowMs: number): Promise<void> {
    while (this.#wanted.size > 0) {
      const days = this.#nextDays();
      const names = this.#names;
      const rows = await this.#readDays(days, openFrom, names).catch((error: unknown) => {
        if (error instanceof TooMany && names === this.#names) this.#floor = days.at(-1)!;
        throw error;
      });
      for (const day of days) this.#wanted.delete(day);
      // Forgotten meanwhile: the numbers are those of other names.
      if (names !== this.#names) continue;
      this.#perDay = rows.at(-1)!.keys.length;
      for (const [n, day] of days.entries()) {
        this.#drop(day);
        this.#days.set(day, { rows: rows[n]!, readAtMs: nowMs, without: withoutOn(day, without) });
        this.#rowCount += rows[n]!.keys.length;
      }
      this.#makeRoom();
    }
  }

  /** Returns the latest wanted days, in order: one at first, then as many as are read at once. */
  #nextDays(): readonly string[] {
    const wanted = [...this.#wanted].sort();
    const last = wanted.at(-1)!;
    const count = this.#perDay === 0 ? 1 : Math.max(1, Math.min(DAYS_AT_ONCE, ROWS_AT_ONCE / 2 / this.#perDay));
    const first = dayOf(Date.parse(last) - (Math.floor(count) - 1) * DAY_MS);
    return wanted.filter((day) => day >= first);
  }

  #makeRoom(): void {
    const days = [...this.#days.keys()].sort();
    while (this.#rowCount > this.#maxRows) {
      const [earliest] = days.splice(0, 1);
      this.#floor = earliest! > this.#floor ? earliest! : this.#floor;
      this.#drop(earliest!);
    }
    for (const day of this.#wanted) if (day <= this.#floor) this.#wanted.delete(day);
  }

  /** Reads the days that may still grow, here: they are certainly in the store. Null if they have too many rows. */
  async #openDays(openFrom: string, from: string, to: string): Promise<Days['days'] | null> {
    const days = [...daysFrom(openFrom > from ? openFrom : from, to)];
    if (days.length === 0) return [];
    const nowMs = performance.now();
    if (this.#open === null || nowMs >= this.#open.untilMs || this.#open.days.join() !== days.join()) {
      const rows = this.#readDays(days, null, this.#names);
      const open: Open = { days, rows, untilMs: Infinity };
      this.#open = open;
      rows.then(
        () => {
          const endMs = performance.now();
          open.untilMs = endMs + Math.min(MAX_REUSE_MS, REUSE_FACTOR * (endMs - nowMs));
        },
        (error: unknown) => (open.untilMs = error instanceof TooMany ? performance.now() + MAX_REUSE_MS : 0),
      );
    }
    const rows = await this.#open.rows.catch((error: unknown) => {
      if (error instanceof TooMany) return null;
      throw error;
    });
    return rows === null ? null : days.map((day, n) => ({ day, rows: rows[n]! }));
  }

  /** @param openFrom null to read in this process */
  async #readDays(days: readonly string[], openFrom: string | null, names: Names): Promise<readonly DayRows[]> {
    const [from, to] = [days[0]!, days.at(-1)!];
    const { report, engine } = this.#parts;
    const by = ['key', 'plan', 'operation', 'day'] as const;
    const ledger: Ledger =
      report === undefined || openFrom === null
        ? engine.usage.rows(from, to)
        : (reportIn(report('rows', { from, to, by, names: false, corrections: false, openFrom })).rows as Ledger);
    const builders = new Map(days.map((day) => [day, new DayBuilder(names)]));
    let count = 0;
    for await (const batch of ledger) {
      for (const row of batch) builders.get(row.day)?.add(row);
      count += batch.length;
      if (count > ROWS_AT_ONCE) throw new TooMany(`more than ${ROWS_AT_ONCE} rows`);
    }
    return days.map((day) => builders.get(day)!.done());
  }
}

class TooMany extends Error {}
