import { COUNTS, type Counts, type UsageRow } from '../../store/records/counts.js';

/** Counts of one kind, by row; null if all are 0. */
type Column = Uint32Array | Float64Array | null;

/** The ledger rows of one day in 12 to 40 bytes each: numbers in a `Names`, and counts. */
export interface DayRows {
  readonly keys: Uint32Array;
  /** Plan and operation. */
  readonly labels: Uint32Array;
  readonly counts: Readonly<Record<keyof Counts, Column>>;
}

export type Label = Pick<UsageRow, 'plan' | 'operation'>;

/** Numbers the keys and labels of all days. */
export class Names {
  readonly keys: string[] = [];
  readonly labels: Label[] = [];
  readonly #keys = new Map<string, number>();
  readonly #labels = new Map<string, number>();

  key(id: string): number {
    let known = this.#keys.get(id);
    if (known === undefined) this.#keys.set(id, (known = this.keys.push(id) - 1));
    return known;
  }

  label({ plan, operation }: Label): number {
    const text = `${plan}\n${operation}`;
    let known = this.#labels.get(text);
    if (known === undefined) this.#labels.set(text, (known = this.labels.push({ plan, operation }) - 1));
    return known;
  }
}

export class DayBuilder {
  readonly #names: Names;
  readonly #keys: number[] = [];
  readonly #labels: number[] = [];
  readonly #counts = COUNTS.map((): number[] => []);

  constructor(names: Names) {
    this.#names = names;
  }

  add(row: UsageRow): void {
    this.#keys.push(this.#names.key(row.key));
    this.#labels.push(this.#names.label(row));
    for (let n = 0; n < COUNTS.length; n += 1) this.#counts[n]!.push(row[COUNTS[n]!]);
  }

  done(): DayRows {
    const columns = COUNTS.map((name, n) => [name, columnOf(this.#counts[n]!)] as const);
    return {
      keys: Uint32Array.from(this.#keys),
      labels: Uint32Array.from(this.#labels),
      counts: Object.fromEntries(columns) as DayRows['counts'],
    };
  }
}

/** Exact: a count is an integer up to 2^53. */
function columnOf(counts: readonly number[]): Column {
  let largest = 0;
  for (const count of counts) if (count > largest) largest = count;
  if (largest === 0) return null;
  return largest < 2 ** 32 ? Uint32Array.from(counts) : Float64Array.from(counts);
}
