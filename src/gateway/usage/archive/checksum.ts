import { createHash } from 'node:crypto';
import { addCounts, COUNTS, noCounts, type Counts, type UsageRow } from '../../store/records/counts.js';

/** Version of the text that is hashed. */
const FORMAT = 1;

/** Columns of a row, in the order in which they are hashed. */
export const COLUMNS = ['key', 'plan', 'operation', ...COUNTS] as const;

const LABELS = 3;

/** Row count, totals and hash of a whole day, to detect changes. */
export interface Checksum {
  readonly rows: number;
  readonly totals: Counts;
  /** Those that the rows were written with: earlier versions had fewer counts. */
  readonly columns: readonly string[];
  /** SHA-256 (RFC 6234), hexadecimal, of a head (day, format, columns) and one line per row. */
  readonly sha256: string;
}

/** Computes the checksum of a day from its rows, in order of key, plan and operation. */
export class DayChecksum {
  readonly #hash = createHash('sha256');
  readonly #totals = noCounts();
  readonly #columns: readonly string[];
  #rows = 0;

  constructor(day: string, columns: readonly string[] = COLUMNS) {
    this.#columns = columns;
    this.#hash.update(`${JSON.stringify({ ledger: day, format: FORMAT, columns })}\n`);
  }

  /** Joins fields with tabs, which plans, keys and operations cannot contain. */
  add(row: UsageRow): void {
    let line = `${row.key}\t${row.plan}\t${row.operation}`;
    for (const count of this.#columns.slice(LABELS)) line += `\t${row[count as keyof Counts]}`;
    this.#hash.update(`${line}\n`);
    this.#rows += 1;
    addCounts(this.#totals, row);
  }

  get result(): Checksum {
    return { rows: this.#rows, totals: this.#totals, columns: this.#columns, sha256: this.#hash.digest('hex') };
  }
}
