import { createHash } from 'node:crypto';
import { addCounts, COUNTS, noCounts, type Counts } from '../../store/counts.js';
import type { UsageRow } from '../../store/port.js';

/** Of the text form of a day; a larger one is of a version of Petgate to come. */
const FORMAT = 1;

/** The columns of a day's rows, in order. */
export const COLUMNS: readonly string[] = ['key', 'plan', 'operation', ...COUNTS];

/** What is known of a whole day: enough to find it changed. */
export interface Checksum {
  readonly rows: number;
  readonly totals: Counts;
  /** Of a head, which names day, format and columns, and the lines of all rows (RFC 6234, hexadecimal). */
  readonly sha256: string;
}

/** Adds up the rows of a day as they come. */
export class DayChecksum {
  readonly #hash = createHash('sha256');
  readonly #totals = noCounts();
  #rows = 0;

  constructor(day: string) {
    this.#hash.update(`${JSON.stringify({ ledger: day, format: FORMAT, columns: COLUMNS })}\n`);
  }

  /** Plans, keys and operations are plain words without tabs. */
  add(row: UsageRow): void {
    let line = `${row.key}\t${row.plan}\t${row.operation}`;
    for (const count of COUNTS) line += `\t${row[count]}`;
    this.#hash.update(`${line}\n`);
    this.#rows += 1;
    addCounts(this.#totals, row);
  }

  get result(): Checksum {
    return { rows: this.#rows, totals: this.#totals, sha256: this.#hash.digest('hex') };
  }
}
