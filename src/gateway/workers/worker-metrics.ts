import { AggregatorRegistry, type MetricObjectWithValues, type MetricValue, type Registry } from 'prom-client';

export type Snapshot = MetricObjectWithValues<MetricValue<string>>[];

interface Wait {
  readonly workers: Set<number>;
  readonly end: () => void;
}

/** A worker that is silent for this long hangs. */
const SILENT_MS = 3000;

/**
 * The summed metrics of all workers, including dead ones. A hanging worker counts with its last snapshot and never
 * makes a scrape fail.
 */
export class WorkerMetrics {
  readonly #latest = new Map<number, { readonly snapshot: Snapshot; readonly atMs: number }>();
  /** Without those of dead workers, a counter would fall when a worker is replaced. */
  #dead: Promise<Snapshot> = Promise.resolve([]);

  readonly #waits = new Set<Wait>();

  update(worker: number, snapshot: Snapshot): void {
    this.#latest.set(worker, { snapshot, atMs: performance.now() });
    for (const { workers, end } of this.#waits) {
      if (workers.delete(worker) && workers.size === 0) end();
    }
  }

  /** Resolves when each of `workers` has sent a newer snapshot, or after `withinMs`. */
  refreshed(workers: readonly number[], withinMs: number): Promise<void> {
    return new Promise((resolve) => {
      const end = (): void => {
        clearTimeout(timer);
        this.#waits.delete(wait);
        resolve();
      };
      const timer = setTimeout(end, withinMs);
      const wait = { workers: new Set(workers), end };
      this.#waits.add(wait);
    });
  }

  /** The worker is gone: its counters stay, its gauges are dropped. */
  forget(worker: number): void {
    const last = this.#latest.get(worker)?.snapshot;
    this.#latest.delete(worker);
    if (last === undefined) return;
    const counts = last.filter((metric) => ['counter', 'histogram'].includes(String(metric.type)));
    this.#dead = this.#dead.then((before) => AggregatorRegistry.aggregate([before, counts]).getMetricsAsJSON());
  }

  isResponsive(worker: number): boolean {
    const atMs = this.#latest.get(worker)?.atMs;
    return atMs !== undefined && performance.now() - atMs < SILENT_MS;
  }

  /** The sum including `own`, in Prometheus' text format. */
  async text(own: Registry): Promise<string> {
    const [first, dead] = await Promise.all([own.getMetricsAsJSON(), this.#dead]);
    const living = [...this.#latest.values()].map(({ snapshot }) => snapshot);
    return AggregatorRegistry.aggregate([first, ...living, dead]).metrics();
  }
}
