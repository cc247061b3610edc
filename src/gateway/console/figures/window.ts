import { bucketsOf, quantileOf, type Buckets } from './buckets.js';
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

  /** Returns by how much a counter grew; one that was reset counts from 0. */
  grown(name: string, label?: string, value?: string): number {
    const [before, after] = [this.from.sum(name, label, value), this.to.sum(name, label, value)];
    return after >= before ? after - before : after;
  }

  grownBy(name: string, label: string): ReadonlyMap<string, number> {
    const before = this.from.by(name, label);
    return new Map([...this.to.by(name, label)].map(([of, after]) => [of, Math.max(0, after - (before.get(of) ?? 0))]));
  }

  /** What a histogram saw. @param only label and value of the series that count */
  buckets(name: string, only?: readonly [label: string, value: string]): Buckets {
    return bucketsOf(this.from.by(`${name}_bucket`, 'le', only), this.to.by(`${name}_bucket`, 'le', only));
  }

  /** The upper bound of the bucket that holds this share of what a histogram saw, s; null where it saw nothing. */
  quantile(name: string, share: number): number | null {
    return quantileOf(this.buckets(name), share);
  }
}
