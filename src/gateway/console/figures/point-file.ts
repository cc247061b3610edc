import { readFileSync } from 'node:fs';
import { appendFile, mkdir, rename, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { z } from 'zod';
import type { Point } from './point.js';

const FIGURE = z.union([z.number(), z.literal('Infinity').transform(() => Infinity)]);
const POINT = z.object({
  atMs: z.number(),
  classes: z.record(z.string(), z.number()),
  limited: z.number(),
  latency: z.array(z.tuple([FIGURE, z.number()])),
  upstreams: z.record(z.string(), z.object({ requests: z.number(), failed: z.number(), p99: FIGURE.nullable() })),
});

/**
 * The last points of one length, in a file with a line of JSON for each. A point is written when the next begins. What
 * cannot be written or read is missing after a restart, and nothing else: the gateway does not depend on it.
 */
export class Kept {
  readonly #file: string | null;
  readonly #max: number;
  #points: Point[] = [];
  #appended = 0;
  /** One after the other; a disk that hangs holds up nothing but this file. */
  #written = Promise.resolve();

  /** @param folder the data folder; null: nothing is written */
  constructor(folder: string | null, name: string, max: number) {
    this.#file = folder === null ? null : join(folder, 'figures', `${name}.ndjson`);
    this.#max = max;
    if (this.#file !== null) this.#load(this.#file);
  }

  /** The oldest first. */
  get points(): readonly Point[] {
    return this.#points;
  }

  /** Joins it with the last point, if that is of the same period or a later one: a clock may step back. */
  add(point: Point, join: (last: Point, next: Point) => Point): void {
    const last = this.#points.at(-1);
    if (last !== undefined && point.atMs <= last.atMs) {
      this.#points[this.#points.length - 1] = join(last, point);
      return;
    }
    this.#points.push(point);
    if (this.#points.length > this.#max) this.#points.shift();
    if (last !== undefined && this.#file !== null) this.#append(this.#file, last);
  }

  /** Writes the file anew after as many points as are kept, so that it does not grow without end. */
  #append(file: string, point: Point): void {
    this.#appended += 1;
    if (this.#appended >= this.#max) this.#rewrite(file, this.#points.slice(0, -1));
    else this.#write(() => appendFile(file, lineOf(point), { mode: 0o600 }));
  }

  #load(file: string): void {
    try {
      this.#points = readFileSync(file, 'utf8').split('\n').flatMap(pointIn).slice(-this.#max);
    } catch {
      // There is none yet, or it can't be read.
    }
    this.#rewrite(file, this.#points);
  }

  #rewrite(file: string, points: readonly Point[]): void {
    this.#appended = 0;
    const text = points.map(lineOf).join('');
    this.#write(async () => {
      await mkdir(dirname(file), { recursive: true, mode: 0o700 });
      await writeFile(`${file}.new`, text, { mode: 0o600 });
      await rename(`${file}.new`, file);
    });
  }

  #write(write: () => Promise<unknown>): void {
    this.#written = this.#written.then(write).then(
      () => undefined,
      () => undefined,
    );
  }
}

function lineOf(point: Point): string {
  return `${JSON.stringify(point, (_, value: unknown) => (value === Infinity ? 'Infinity' : value))}\n`;
}

/** A line that broke off, or that somebody else wrote, is left out. */
function pointIn(line: string): readonly Point[] {
  try {
    return [POINT.parse(JSON.parse(line))];
  } catch {
    return [];
  }
}
