import type { Sample } from './sample.js';

/** What went on between two samples. */
export class Span {
  readonly from: Sample;
  readonly to: Sample;

  constructor(from: Sample, to: Sample) {
    this.from = from;
    this.to = to;
  }

  get seconds(): number {
    return (this.to.atMs - this.from.atMs) / 1000;
  }

  /** By how much a counter grew; one that began anew counts from nothing. */
  grown(name: string, label?: string, value?: string): number {
    const [before, after] = [this.from.sum(name, label, value), this.to.sum(name, label, value)];
    return after >= before ? after - before : after;
  }

  grownBy(name: string, label: string): ReadonlyMap<string, number> {
    const before = this.from.by(name, label);
    return new Map([...this.to.by(name, label)].map(([of, after]) => [of, Math.max(0, after - (before.get(of) ?? 0))]));
  }

  /** The upper bound of the bucket that this share of what a histogram saw lies in; undefined where it saw nothing. */
  quantile(name: string, share: number): number | undefined {
    const buckets = [...this.grownBy(`${name}_bucket`, 'le')]
      .map(([bound, count]) => ({ bound: bound === '+Inf' ? Infinity : Number(bound), count }))
      .sort((one, other) => one.bound - other.bound);
    const total = buckets.at(-1)?.count ?? 0;
    return total === 0 ? undefined : buckets.find(({ count }) => count >= share * total)?.bound;
  }
}
