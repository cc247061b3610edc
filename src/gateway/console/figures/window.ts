import { bucketsOf, quantileOf, type Buckets } from './buckets.js';
import type { Sample } from './sample.js';

/** The time between two samples. */
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

  /** Returns what a histogram recorded in this time. @param only label and value that a series must have */
  buckets(name: string, only?: readonly [label: string, value: string]): Buckets {
    return bucketsOf(this.from.by(`${name}_bucket`, 'le', only), this.to.by(`${name}_bucket`, 'le', only));
  }

  /** Returns a quantile (0.99: p99) as the upper bound of its bucket, in seconds; null without values. */
  quantile(name: string, share: number): number | null {
    return quantileOf(this.buckets(name), share);
  }
}
