import { join } from 'node:path';
import { LineFile } from '../../observe/line-file.js';
import { emptyAt, merged, POINT, pointOf, startOf, type Point } from './point.js';
import type { SharedPoints } from './shared.js';
import type { Span } from './window.js';

const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;
const MINUTES = 24 * 60;
const HOURS = 31 * 24;

/** The ranges of the plots, and the time that each point covers. */
export const RANGES = {
  '15 min': { lengthMs: 15 * MINUTE_MS, stepMs: MINUTE_MS },
  '1 h': { lengthMs: HOUR_MS, stepMs: MINUTE_MS },
  '24 h': { lengthMs: 24 * HOUR_MS, stepMs: 15 * MINUTE_MS },
  '7 d': { lengthMs: 7 * 24 * HOUR_MS, stepMs: HOUR_MS },
} as const;
export type Range = keyof typeof RANGES;

/** The availability of an upstream, and since when this process has observed it. */
interface UpstreamState {
  /** Share of its addresses that are up, 0 to 1. */
  readonly up: number;
  readonly addresses: number;
  readonly sinceMs: number;
}

/**
 * Traffic of this gateway per minute for a day and per hour for 31 days: 2,184 points of at most 1 kB, and 300 bytes
 * for each of up to eight upstreams. In memory, eight take at most 20 MB.
 */
export class History {
  readonly #minutes: Periods;
  readonly #hours: Periods;
  readonly #states = new Map<string, UpstreamState>();

  readonly #shared: SharedPoints | null;

  /**
   * @param folder the data folder; null: nothing is kept across restarts
   * @param shared the points of all gateways; null if no other uses this store
   */
  constructor(folder: string | null, shared: SharedPoints | null = null) {
    this.#shared = shared;
    this.#minutes = new Periods(folder, 'minutes', MINUTES);
    this.#hours = new Periods(folder, 'hours', HOURS);
    // Hours are written when they end: the minutes restore the hour that a restart cut short.
    const last = this.#hours.points.at(-1)?.atMs ?? 0;
    for (const minute of this.#minutes.points) {
      const hour = { ...minute, atMs: startOf(minute.atMs, HOUR_MS) };
      if (hour.atMs > last) this.#hours.add(hour);
    }
  }

  /** Adds the traffic since the previous sample. Resolves when the other gateways can read it. Never rejects. */
  async add(span: Span): Promise<void> {
    const { atMs } = span.to;
    const point = pointOf(span, atMs);
    this.#minutes.add({ ...point, atMs: startOf(atMs, MINUTE_MS) });
    this.#hours.add({ ...point, atMs: startOf(atMs, HOUR_MS) });
    const counts = span.to.by('petgate_upstream_addresses', 'upstream');
    for (const [name, up] of span.to.by('petgate_upstream_up_ratio', 'upstream')) {
      const before = this.#states.get(name);
      const sinceMs = before?.up === up ? before.sinceMs : atMs;
      this.#states.set(name, { up, addresses: counts.get(name) ?? 1, sinceMs });
    }
    await this.#shared?.add(point).catch(() => undefined);
  }

  /** Returns undefined for an upstream that was never observed. */
  stateOf(upstream: string): UpstreamState | undefined {
    return this.#states.get(upstream);
  }

  /**
   * Returns a point for each step of the range, oldest first; without requests where nothing was measured. A point is
   * of all gateways; of this one where the store has none or is unavailable.
   */
  async points(range: Range, nowMs: number): Promise<readonly Point[]> {
    const { stepMs } = RANGES[range];
    const own = this.#own(range, nowMs);
    const starts = own.map(({ atMs }) => atMs);
    const shared = (await this.#shared?.read(stepMs, starts).catch(() => null)) ?? [];
    return own.map((point, index) => shared[index] ?? point);
  }

  #own(range: Range, nowMs: number): readonly Point[] {
    const { lengthMs, stepMs } = RANGES[range];
    const periods = stepMs === HOUR_MS ? this.#hours : this.#minutes;
    const end = startOf(nowMs, stepMs) + stepMs;
    const points = new Map<number, Point>();
    for (let atMs = end - lengthMs; atMs < end; atMs += stepMs) points.set(atMs, emptyAt(atMs));
    for (const point of periods.points) {
      const into = points.get(startOf(point.atMs, stepMs));
      if (into !== undefined) points.set(into.atMs, merged(into, point));
    }
    return [...points.values()];
  }
}

/** Points of equal length. A point is written when the next one begins. */
class Periods {
  readonly #file: LineFile<Point>;
  #current: Point | null = null;

  constructor(folder: string | null, name: string, max: number) {
    this.#file = new LineFile<Point>(folder === null ? null : join(folder, 'figures', `${name}.ndjson`), POINT, max);
  }

  /** Oldest first. */
  get points(): readonly Point[] {
    return this.#current === null ? this.#file.items : [...this.#file.items, this.#current];
  }

  /** If the clock steps back by up to an hour, counts into the current point; by more, discards that point. */
  add(point: Point): void {
    const last = this.#current;
    if (last !== null && point.atMs <= last.atMs && point.atMs >= last.atMs - HOUR_MS) {
      this.#current = merged(last, point);
      return;
    }
    if (last !== null && point.atMs > last.atMs) this.#file.add(last);
    this.#current = point;
  }
}
