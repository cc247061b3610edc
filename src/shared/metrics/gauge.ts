import { Counter, Gauge, type Registry } from 'prom-client';

/** How the values of several processes are combined. */
type Aggregator = 'sum' | 'max' | 'min' | 'average' | 'first';

/** Adds a counter with these labels. */
export function counterOf<Label extends string = never>(
  registry: Registry,
  name: string,
  help: string,
  ...labelNames: Label[]
): Counter<Label> {
  return new Counter({ name, help, labelNames, registers: [registry] });
}

/** Adds a gauge that is read at each scrape, at no cost to the request path. */
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

/** Like `gaugeOf`, with one value for each value of `label`; null if there are none at the moment. */
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
      // Label values of the last scrape may be gone.
      this.reset();
      for (const [value, figure] of figures ?? []) this.set({ [label]: value }, figure);
    },
  });
}
