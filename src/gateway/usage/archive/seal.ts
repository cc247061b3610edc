import { createHash } from 'node:crypto';
import { addCounts, COUNTS, noCounts } from '../../store/counts.js';
import type { Counts } from '../../store/counts.js';
import type { UsageRow } from '../../store/port.js';

/** Of the text form of a day; a larger one is of a version of Petgate to come. */
const FORMAT = 1;
const LABELS = ['key', 'plan', 'operation'] as const;

/** What is told of a whole day: enough to find it changed. */
export interface Seal {
  readonly rows: number;
  readonly totals: Readonly<Record<string, number>>;
  /** Of the head and the lines of all rows (RFC 6234, hexadecimal). */
  readonly sha256: string;
}

/** The first line of a day: says what stands in the others, so that a count may be added one day. */
export function headOf(day: string, columns: readonly string[] = COLUMNS): string {
  return `${JSON.stringify({ ledger: day, format: FORMAT, columns })}\n`;
}

export const COLUMNS: readonly string[] = [...LABELS, ...COUNTS];

/** A day that was archived before there was this count has as many of it as of the other; any other count is 0 then. */
const SAME_AS: Readonly<Record<string, string>> = { units: 'requests' };

/** Reads the counts of a row, whose columns are those of the day. */
export function countsReader(columns: readonly string[]): (fields: readonly (string | null)[]) => Counts {
  const places = COUNTS.map((count) => {
    const own = columns.indexOf(count);
    return own === -1 ? columns.indexOf(SAME_AS[count] ?? '') : own;
  });
  return (fields) => {
    const counts = noCounts();
    for (const [n, count] of COUNTS.entries()) counts[count] = Number(fields[places[n]!] ?? 0);
    return counts;
  };
}

/** A row as text: plans, keys and operations are plain words without tabs. */
export function lineOf({ key, plan, operation, ...counts }: UsageRow): string {
  let line = `${key}\t${plan}\t${operation}`;
  for (const count of COUNTS) line += `\t${counts[count]}`;
  return `${line}\n`;
}

/** Seals rows as they come. */
export class Sealer {
  readonly #hash = createHash('sha256');
  readonly #totals = noCounts();
  #rows = 0;

  constructor(head: string) {
    this.#hash.update(head);
  }

  add(row: UsageRow, line: string): void {
    this.#hash.update(line);
    this.#rows += 1;
    addCounts(this.#totals, row);
  }

  seal(): Seal {
    return { rows: this.#rows, totals: this.#totals, sha256: this.#hash.digest('hex') };
  }
}
