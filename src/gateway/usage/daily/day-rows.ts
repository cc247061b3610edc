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

type Label = Pick<UsageRow, 'plan' | 'operation'>;

/** Numbers the keys and labels of all days. */
export class Names {
  readonly keys: string[] = [];
  readonly labels: Label[] = [];
  readonly #keys = new Map<string, number>();
  readonly #labels = new Map<string, number>();

  /** Returns the numbers of a row's key and label. */
  of({ key, plan, operation }: UsageRow): readonly [key: number, label: number] {
    let known = this.#keys.get(key);
    if (known === undefined) this.#keys.set(key, (known = this.keys.push(key) - 1));
    const text = `${plan}\n${operation}`;
    let label = this.#labels.get(text);
    if (label === undefined) this.#labels.set(text, (label = this.labels.push({ plan, operation }) - 1));
    return [known, label];
  }
}

/** Collects the rows of a day. */
export class DayBuilder {
  readonly #names: Names;
  readonly #keys: number[] = [];
  readonly #labels: number[] = [];
  readonly #counts = COUNTS.map((): number[] => []);

  constructor(names: Names) {
    this.#names = names;
  }

  add(row: UsageRow): void {
    const [key, label] = this.#names.of(row);
    this.#keys.push(key);
    this.#labels.push(label);
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
