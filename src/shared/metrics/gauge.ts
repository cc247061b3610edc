import { Gauge, type Registry } from 'prom-client';

/** How the figures of several processes become one. */
type Aggregator = 'sum' | 'max' | 'min' | 'average' | 'first';

/** A figure that is read at each scrape: the request path pays nothing for it. */
export function gaugeOf(
  registry: Registry,
  name: string,
  help: string,
  read: () => number | Promise<number>,
  aggregator: Aggregator = 'sum',
): void {
  new Gauge({
    name,
    help,
    registers: [registry],
    aggregator,
    async collect() {
      this.set(await read());
    },
  });
}

/** As `gaugeOf`, with a figure for each value of `label`; null: there are none just now. */
export function gaugesOf(
  registry: Registry,
  name: string,
  help: string,
  label: string,
  read: () => Iterable<readonly [string, number]> | null | Promise<Iterable<readonly [string, number]> | null>,
  aggregator: Aggregator = 'sum',
): void {
  new Gauge({
    name,
    help,
    labelNames: [label],
    registers: [registry],
    aggregator,
    async collect() {
      const figures = await read();
      // What had a figure before may be gone.
      this.reset();
      for (const [value, figure] of figures ?? []) this.set({ [label]: value }, figure);
    },
  });
}
