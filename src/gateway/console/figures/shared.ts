import { itemIn, lineOf } from '../../observe/line-file.js';
import type { GatewayNotes } from '../../store/port.js';
import { emptyAt, merged, POINT, startOf, type Point } from './point.js';

/** How many periods of each length the store keeps: 900 points of at most 3 kB for each gateway. */
const KEPT: ReadonlyMap<number, number> = new Map([
  [60_000, 60],
  [15 * 60_000, 96],
  [3_600_000, 31 * 24],
]);

/** Points of all gateways on one store. Each gateway writes its own, and adds them up when they are read. */
export class SharedPoints {
  readonly #notes: GatewayNotes;
  /** What this process has counted in the current period of each length. */
  readonly #current = new Map<number, Point>();

  constructor(notes: GatewayNotes) {
    this.#notes = notes;
  }

  /** Adds what this process has counted, and writes the current periods. Rejects with StoreUnavailable. */
  async add(point: Point): Promise<void> {
    const writes = [...KEPT].map(([stepMs, count]) => {
      const atMs = startOf(point.atMs, stepMs);
      const before = this.#current.get(stepMs);
      const sum = merged(before?.atMs === atMs ? before : emptyAt(atMs), point);
      this.#current.set(stepMs, sum);
      return this.#notes.write(nameOf(stepMs, atMs), lineOf(sum), stepMs * (count + 1));
    });
    await Promise.all(writes);
  }

  /**
   * Returns the sum of all gateways for each of these periods; null where none has written.
   * Rejects with StoreUnavailable.
   */
  read(stepMs: number, starts: readonly number[]): Promise<readonly (Point | null)[]> {
    return Promise.all(
      starts.map(async (atMs) => {
        const texts = [...(await this.#notes.read(nameOf(stepMs, atMs))).values()];
        const points = texts.flatMap((text): readonly Point[] => itemIn(text, POINT));
        return points.length === 0 ? null : points.reduce(merged);
      }),
    );
  }
}

function nameOf(stepMs: number, atMs: number): string {
  return `figures:${stepMs / 60_000}:${atMs / stepMs}`;
}
