import { Histogram, type HistogramConfiguration } from 'prom-client';

interface Series {
  observe(value: number): void;
}

interface Counted {
  readonly labels: Readonly<Record<string, string>>;
  /** Per bucket, not cumulative; the last is for values above all bounds. */
  readonly counts: number[];
  sum: number;
}

/** A histogram with its own counters, because prom-client looks up labels and bucket at each observation. */
export class QuickHistogram<Label extends string> extends Histogram<Label> {
  readonly #name: string;
  readonly #help: string;
  readonly #bounds: readonly number[];
  readonly #series: Counted[] = [];

  constructor(configuration: HistogramConfiguration<Label> & { readonly buckets: number[] }) {
    super(configuration);
    this.#name = configuration.name;
    this.#help = configuration.help;
    this.#bounds = configuration.buckets;
  }

  /** Adds a series at 0. Call once per combination of labels. */
  series(labels: Readonly<Partial<Record<Label, string>>>): Series {
    const bounds = this.#bounds;
    const counted: Counted = {
      labels: labels as Readonly<Record<string, string>>,
      counts: new Array<number>(bounds.length + 1).fill(0),
      sum: 0,
    };
    this.#series.push(counted);
    return {
      observe: (value) => {
        let bucket = 0;
        while (bucket < bounds.length && value > bounds[bucket]!) bucket += 1;
        counted.counts[bucket]! += 1;
        counted.sum += value;
      },
    };
  }

  /** prom-client builds both of its formats, text and JSON, from this. */
  getForPromString(): Promise<object> {
    const values = this.#series.flatMap((counted) => this.#valuesOf(counted));
    return Promise.resolve({ name: this.#name, help: this.#help, type: 'histogram', values, aggregator: 'sum' });
  }

  #valuesOf({ labels, counts, sum }: Counted): readonly object[] {
    let total = 0;
    const value = (ending: string, figure: number, own: object): object => ({
      metricName: `${this.#name}_${ending}`,
      value: figure,
      labels: own,
      sharedLabels: labels,
    });
    const buckets = counts.map((count, index) =>
      value('bucket', (total += count), { le: this.#bounds[index] ?? '+Inf' }),
    );
    return [...buckets, value('sum', sum, {}), value('count', total, {})];
  }
}
