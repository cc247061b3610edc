import { Counter } from 'prom-client';

interface CountSeries {
  inc(by?: number): void;
}

interface Pending<Label extends string> {
  readonly labels: Readonly<Record<Label, string>>;
  count: number;
}

/** A counter whose series are updated at each scrape, because prom-client looks up labels at each increment. */
export class QuickCounter<Label extends string> extends Counter<Label> {
  readonly #pending: Pending<Label>[] = [];

  /** Adds a series, at 0 if it is new. Call once per combination of labels. */
  series(labels: Readonly<Record<Label, string>>): CountSeries {
    this.inc(labels, 0);
    const pending = { labels, count: 0 };
    this.#pending.push(pending);
    return { inc: (by = 1) => void (pending.count += by) };
  }

  override get(): ReturnType<Counter<Label>['get']> {
    for (const pending of this.#pending) {
      this.inc(pending.labels, pending.count);
      pending.count = 0;
    }
    return super.get();
  }
}
