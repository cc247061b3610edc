import { AggregatorRegistry, type MetricObjectWithValues, type MetricValue, type Registry } from 'prom-client';

export type Snapshot = MetricObjectWithValues<MetricValue<string>>[];

/** A worker that sends no metrics for this long counts as silent. */
const SILENT_MS = 3000;

/**
 * Sums the metrics of all workers, including dead ones. For a hanging worker it uses the last snapshot, so a scrape
 * does not fail.
 */
export class WorkerMetrics {
  readonly #latest = new Map<number, { readonly snapshot: Snapshot; readonly atMs: number }>();
  /** Counters of dead workers: without them, the sum would fall when a worker is replaced. */
  #dead: Promise<Snapshot> = Promise.resolve([]);

  update(worker: number, snapshot: Snapshot): void {
    this.#latest.set(worker, { snapshot, atMs: performance.now() });
  }

  /** Keeps the counters and histograms of a worker that is gone, and drops its gauges. */
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

  /** Returns the sum including `own`, in Prometheus' text format. */
  async text(own: Registry): Promise<string> {
    // Read in one step with `#dead`: a worker that dies now is in one of them.
    const living = [...this.#latest.values()].map(({ snapshot }) => snapshot);
    const [dead, first] = await Promise.all([this.#dead, own.getMetricsAsJSON()]);
    return AggregatorRegistry.aggregate([first, ...living, dead]).metrics();
  }
}
