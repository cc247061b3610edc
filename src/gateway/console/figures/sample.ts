/** `petgate_requests_total{class="2xx"} 5` */
const LINE = /^(petgate_\w+)(?:\{(.*)\})? (\S+)$/;

interface Series {
  readonly labels: Readonly<Record<string, string>>;
  readonly value: number;
}

/** The metrics of all processes of this gateway at one moment. */
export class Sample {
  readonly atMs: number;
  readonly #series = new Map<string, Series[]>();

  /** @param text in Prometheus' text format */
  constructor(text: string, atMs: number) {
    this.atMs = atMs;
    for (const line of text.split('\n')) {
      const [, name, labels = '', value] = LINE.exec(line) ?? [];
      if (name === undefined) continue;
      const series = { labels: labelsIn(labels), value: Number(value) };
      const known = this.#series.get(name);
      if (known === undefined) this.#series.set(name, [series]);
      else known.push(series);
    }
  }

  series(name: string): readonly Series[] {
    return this.#series.get(name) ?? [];
  }

  /** Returns the sum of all series of this name, or of those whose label has this value; 0 without any. */
  sum(name: string, label?: string, value?: string): number {
    return this.series(name).reduce(
      (sum, one) => (label === undefined || one.labels[label] === value ? sum + one.value : sum),
      0,
    );
  }

  /** Returns the value of the first series of this name; undefined without any. */
  value(name: string): number | undefined {
    return this.series(name)[0]?.value;
  }

  /** Returns sums by the values of a label. @param only label and value that a series must have */
  by(name: string, label: string, only?: readonly [label: string, value: string]): ReadonlyMap<string, number> {
    const sums = new Map<string, number>();
    for (const { labels, value } of this.series(name)) {
      if (only !== undefined && labels[only[0]] !== only[1]) continue;
      const of = labels[label] ?? '';
      sums.set(of, (sums.get(of) ?? 0) + value);
    }
    return sums;
  }
}

function labelsIn(text: string): Readonly<Record<string, string>> {
  const pairs = text.matchAll(/,?(\w+)="((?:\\.|[^"\\])*)"/gy);
  return Object.fromEntries([...pairs].map(([, name = '', value = '']) => [name, value.replace(/\\(.)/g, '$1')]));
}
