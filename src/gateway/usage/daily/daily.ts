import { setTimeout as pause } from 'node:timers/promises';
import type { AdmissionEngine } from '../../store/port.js';
import { dayOf, daysFrom, DAY_MS } from '../../../shared/utc-day.js';
import { monthStartMs } from '../../../shared/utc-month.js';
import type { Ledger } from '../grouping/groups.js';
import type { ReportRange } from '../grouping/range.js';
import { reportIn } from '../grouping/report-rows.js';
import { originOf, type CachedDay, type DayFiles } from './day-files.js';
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
const WAIT_MS = 500;
/** How long files may take, before the ledger is read instead. */
const FILES_MS = 2_000;
/** Open days are read again after this multiple of the time that reading them took. */
const REUSE_FACTOR = 20;
const MAX_REUSE_MS = 60_000;
/** While open days are being read again, pages show them as they were, up to this age. */
const MAX_AGE_MS = 600_000;

/** The days that may still grow, as they were read last. */
interface OpenDays {
  /** Null if they have too many rows. */
  readonly rows: ReadonlyMap<string, DayRows> | null;
  readonly readAtMs: number;
  /** When to read them again, on the clock of `performance.now()`. */
  readonly untilMs: number;
}

interface DailyParts {
  readonly engine: Pick<AdmissionEngine, 'usage' | 'days' | 'transfer'>;
  /** Creates a report from store and archive in another process; if absent, days are read here, from the store. */
  readonly report?: (format: 'rows', range: ReportRange) => AsyncIterable<string | Buffer>;
  /** Keeps final days across restarts. */
  readonly files?: DayFiles | undefined;
  /** Tests only. */
  readonly maxRows?: number;
  readonly rowsAtOnce?: number;
}

type DayRange = Pick<ReportRange, 'from' | 'to' | 'openFrom' | 'without'>;
type Finality = Pick<DayRange, 'openFrom' | 'without'>;

interface KnownDays extends Days {
  /** About how long reading the others takes; 0 if not known. */
  readonly readInMs: number;
  /** When the days that may still grow were read; null if the range has none, or they are not read yet. */
  readonly openAtMs: number | null;
}

/**
 * The ledger by day, in memory, for pages: never for bills and files. Final days are read once, in the background, and
 * again when the store was imported to or accepted, a gateway that was given up is back, or a day has passed. Days that
 * may still grow are read for each page, at most every few seconds.
 */
export class DailyUsage {
  readonly #parts: DailyParts & Required<Pick<DailyParts, 'maxRows' | 'rowsAtOnce'>>;
  #names = new Names();
  readonly #days = new Map<string, CachedDay>();
  #revision = '';
  #rowCount = 0;
  /** The latest day that has no room; those before are not read either. */
  #floor = '';
  /** Of the day that was read last; 0 before the first. */
  #perDay = { rows: 0, ms: 0 };
  readonly #wanted = new Set<string>();
  #reading: Promise<void> | null = null;
  #open: OpenDays | null = null;
  #readingOpen: Promise<void> | null = null;
  /** Why days could not be read, until a page has reported it. */
  #problem: { readonly error: unknown } | null = null;
  #keepOnce: (() => void) | undefined;

  constructor(parts: DailyParts) {
    this.#parts = { maxRows: MAX_ROWS, rowsAtOnce: ROWS_AT_ONCE, ...parts };
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
   * Returns the days of a range that are in memory soon, and reads the others; null if they are too many for memory.
   * Rejects with StoreUnavailable or ArchiveUnavailable, also if the reading that an earlier page began did.
   */
  async days(asked: DayRange, nowMs: number): Promise<KnownDays | null> {
    const { from, to, openFrom } = asked;
    this.#keepOnce?.();
    await this.#forgetChanged(asked);
    const today = dayOf(nowMs);
    const days = [...daysFrom(from, to < today ? to : today)];
    const final = days.filter((day) => day < openFrom);
    const missing = final.filter((day) => day > this.#floor && !this.#days.has(day));
    for (const day of missing) this.#wanted.add(day);
    // A page that lacks nothing does not wait for what others want.
    const read = missing.length > 0 ? this.#read(asked, nowMs) : undefined;
    const isOpen = final.length < days.length;
    const open = isOpen ? this.#readOpen([...daysFrom(openFrom, today)]) : undefined;
    await Promise.race([Promise.all([read, open]), pause(WAIT_MS)]);
    const problem = this.#problem;
    this.#problem = null;
    if (problem !== null) throw problem.error;
    const opened = isOpen && Date.now() - (this.#open?.readAtMs ?? 0) < MAX_AGE_MS ? this.#open : null;
    if (opened?.rows === null || final.some((day) => day <= this.#floor)) return null;
    const known = days.flatMap((day) => {
      const rows = day < openFrom ? this.#days.get(day)?.rows : opened?.rows?.get(day);
      return rows === undefined ? [] : [{ day, rows }];
    });
    const unread = days.length - known.length;
    const readInMs = unread * this.#perDay.ms;
    return { names: this.#names, days: known, unread, readInMs, openAtMs: opened?.readAtMs ?? null };
  }

  async #update(): Promise<void> {
    this.#problem = null;
    const nowMs = Date.now();
    const { openFrom, without } = await this.#parts.engine.days.finality(nowMs);
    const first = keptFrom(nowMs);
    this.#parts.files?.keepFrom(first);
    await this.#forgetChanged({ openFrom, without });
    for (const day of daysFrom(first, dayOf(nowMs)))
      if (day < openFrom && day > this.#floor && !this.#isFresh(day, nowMs)) this.#wanted.add(day);
    await this.#read({ openFrom, without }, nowMs);
  }

  #isFresh(day: string, nowMs: number): boolean {
    return nowMs - (this.#days.get(day)?.readAtMs ?? -Infinity) < KEPT_MS;
  }

  /** Forgets days that may have changed since they were read. */
  async #forgetChanged({ openFrom, without = [] }: Finality): Promise<void> {
    const revision = await this.#parts.engine.transfer.revision();
    if (revision !== this.#revision) {
      this.#revision = revision;
      this.#names = new Names();
      this.#days.clear();
      this.#open = null;
      [this.#rowCount, this.#floor, this.#perDay] = [0, '', { rows: 0, ms: 0 }];
    }
    for (const [day, { origin }] of this.#days)
      if (day >= openFrom || origin !== originOf(revision, day, without)) this.#drop(day);
  }

  #drop(day: string): void {
    this.#rowCount -= this.#days.get(day)?.rows.keys.length ?? 0;
    this.#days.delete(day);
    this.#parts.files?.remove(day);
  }

  #add(day: string, cached: CachedDay): void {
    this.#rowCount += cached.rows.keys.length - (this.#days.get(day)?.rows.keys.length ?? 0);
    this.#days.set(day, cached);
    this.#wanted.delete(day);
  }

  /** Reads all wanted days, the latest first. Pages that want more meanwhile share the reading. */
  #read(asked: Finality, nowMs: number): Promise<void> {
    this.#reading ??= this.#readWanted(asked, nowMs)
      .catch((error: unknown) => {
        this.#wanted.clear();
        this.#problem = { error };
      })
      .finally(() => (this.#reading = null));
    return this.#reading;
  }

  async #readWanted({ openFrom, without = [] }: Finality, nowMs: number): Promise<void> {
    while (this.#wanted.size > 0) {
      await Promise.race([this.#readFiles(without), pause(FILES_MS, undefined, { ref: false })]);
      const days = this.#nextDays();
      if (days.length === 0) return;
      const [names, revision, beganMs] = [this.#names, this.#revision, performance.now()];
      const found = await this.#readDays(days, openFrom, names);
      if (found === null && days.length > 1) {
        // More rows than the days before: one by one.
        this.#perDay.rows = this.#parts.rowsAtOnce;
        continue;
      }
      for (const day of days) this.#wanted.delete(day);
      // Forgotten meanwhile: the numbers are those of other names.
      if (names !== this.#names) continue;
      if (found === null) this.#floor = days.at(-1)!;
      for (const [day, rows] of found ?? []) {
        const cached = { rows, readAtMs: nowMs, origin: originOf(revision, day, without) };
        this.#perDay = { rows: rows.keys.length, ms: (performance.now() - beganMs) / days.length };
        this.#add(day, cached);
        if (day >= keptFrom(nowMs)) this.#parts.files?.write(day, cached, names);
      }
      this.#makeRoom();
    }
  }

  /** Takes the wanted days that a process before this one has read. */
  async #readFiles(without: Finality['without'] = []): Promise<void> {
    const { files } = this.#parts;
    if (files === undefined) return;
    const [names, revision] = [this.#names, this.#revision];
    for (const day of [...this.#wanted].sort().reverse()) {
      if (this.#days.has(day)) continue;
      const cached = await files.read(day, originOf(revision, day, without), names);
      if (names !== this.#names) return;
      if (cached !== null) this.#add(day, cached);
    }
    this.#makeRoom();
  }

  /** Returns the latest wanted days, in order: one at first, then as many as are read at once. */
  #nextDays(): readonly string[] {
    const wanted = [...this.#wanted].sort();
    const last = wanted.at(-1);
    if (last === undefined) return [];
    const { rows, ms } = this.#perDay;
    const count = ms === 0 ? 1 : Math.max(1, Math.min(DAYS_AT_ONCE, this.#parts.rowsAtOnce / 2 / rows));
    const first = dayOf(Date.parse(last) - (Math.floor(count) - 1) * DAY_MS);
    return wanted.filter((day) => day >= first);
  }

  #makeRoom(): void {
    const days = [...this.#days.keys()].sort();
    while (this.#rowCount > this.#parts.maxRows) {
      const [earliest] = days.splice(0, 1);
      this.#floor = earliest! > this.#floor ? earliest! : this.#floor;
      this.#drop(earliest!);
    }
    for (const day of this.#wanted) if (day <= this.#floor) this.#wanted.delete(day);
  }

  /** Reads the days that may still grow, here: they are certainly in the store. */
  #readOpen(days: readonly string[]): Promise<void> {
    const [names, readAtMs, beganMs] = [this.#names, Date.now(), performance.now()];
    const { rows, untilMs = 0 } = this.#open ?? {};
    if (beganMs < untilMs && (rows === null || days.every((day) => rows?.has(day)))) return Promise.resolve();
    this.#readingOpen ??= this.#readDays(days, null, names)
      .then((found) => {
        const endMs = performance.now();
        const reuseMs = found === null ? MAX_REUSE_MS : Math.min(MAX_REUSE_MS, REUSE_FACTOR * (endMs - beganMs));
        if (names === this.#names) this.#open = { rows: found, readAtMs, untilMs: endMs + reuseMs };
      })
      .catch((error: unknown) => void (this.#problem = { error }))
      .finally(() => (this.#readingOpen = null));
    return this.#readingOpen;
  }

  /** Returns null if there are too many rows. @param openFrom null to read in this process */
  async #readDays(
    days: readonly string[],
    openFrom: string | null,
    names: Names,
  ): Promise<ReadonlyMap<string, DayRows> | null> {
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
      if (count > this.#parts.rowsAtOnce) return null;
    }
    return new Map([...builders].map(([day, builder]) => [day, builder.done()]));
  }
}

/** Returns the first day of the two months before this one. Earlier days are not kept across restarts. */
function keptFrom(nowMs: number): string {
  return dayOf(monthStartMs(monthStartMs(monthStartMs(nowMs) - 1) - 1));
}
