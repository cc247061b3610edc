/** What one run of a case showed. */
export interface Sample {
  readonly requests: number;
  /** CPU per request, µs, of the gateway's processes. */
  readonly gatewayUs: number;
  /** CPU per request, µs, of the store's own process; 0 without one. */
  readonly storeUs: number;
  /** Most memory of the gateway's processes within the run, MiB. */
  readonly rssMiB: number;
  /** Only of a run at a constant rate. */
  readonly latencyMs?: { readonly p50: number; readonly p99: number; readonly p999: number };
}

export type Figure = 'gateway' | 'gateway + store' | 'p99';

export interface Spread {
  readonly median: number;
  readonly p25: number;
  readonly p75: number;
  readonly min: number;
  readonly max: number;
}

function figureOf(sample: Sample, figure: Figure): number {
  switch (figure) {
    case 'gateway':
      return sample.gatewayUs;
    case 'gateway + store':
      return sample.gatewayUs + sample.storeUs;
    case 'p99':
      return sample.latencyMs?.p99 ?? Number.NaN;
  }
}

/** Between the two nearest values where `part` falls between them. */
export function quantile(values: readonly number[], part: number): number {
  const sorted = [...values].sort((a, b) => a - b);
  const place = (sorted.length - 1) * part;
  const below = sorted[Math.floor(place)] ?? Number.NaN;
  const above = sorted[Math.ceil(place)] ?? Number.NaN;
  return below + (above - below) * (place - Math.floor(place));
}

export function spreadOf(values: readonly number[]): Spread {
  const [min = Number.NaN, p25 = Number.NaN, median = Number.NaN, p75 = Number.NaN, max = Number.NaN] = [
    0, 0.25, 0.5, 0.75, 1,
  ].map((part) => quantile(values, part));
  return { median, p25, p75, min, max };
}

/** A median, and between what it is to be believed, 95 of 100 times. */
export interface Interval {
  readonly median: number;
  readonly low: number;
  readonly high: number;
}

/** By the order of the values alone, whatever their distribution; of less than six values it says nothing. */
export function intervalOf(values: readonly number[]): Interval {
  const sorted = [...values].sort((a, b) => a - b);
  const out = Math.round(sorted.length / 2 - 0.98 * Math.sqrt(sorted.length)) - 1;
  return {
    median: quantile(values, 0.5),
    low: out < 0 ? 0 : sorted[out]!,
    high: out < 0 ? Infinity : sorted[sorted.length - 1 - out]!,
  };
}

/** Round by round, since what else the machine does changes both of one round alike. */
export function ratioOf(of: readonly Sample[], to: readonly Sample[], figure: Figure): Spread {
  return spreadOf(of.map((sample, round) => figureOf(sample, figure) / figureOf(to[round]!, figure)));
}
