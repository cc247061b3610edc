/** Samples are CPU µs per request, one per round. */
export interface Result {
  readonly name: string;
  readonly medianUs: number;
  readonly lowestUs: number;
  readonly highestUs: number;
  /** Median over the median of the bare proxy. */
  readonly ratio: number;
  /** CPU µs of the store's own process per admission; null where it has none. */
  readonly storeUs: number | null;
}

export function resultOf(name: string, samplesUs: readonly number[], bareUs: number, storeSamplesUs: readonly number[]): Result {
  const medianUs = median(samplesUs);
  return {
    name,
    medianUs: tenths(medianUs),
    lowestUs: tenths(Math.min(...samplesUs)),
    highestUs: tenths(Math.max(...samplesUs)),
    ratio: Math.round((medianUs / bareUs) * 100) / 100,
    storeUs: storeSamplesUs.length === 0 ? null : tenths(median(storeSamplesUs)),
  };
}

export function median(samples: readonly number[]): number {
  const sorted = [...samples].sort((a, b) => a - b);
  const middle = sorted.length >> 1;
  return sorted.length % 2 === 1 ? sorted[middle]! : (sorted[middle - 1]! + sorted[middle]!) / 2;
}

export function tableOf(results: readonly Result[]): string {
  const rows = results.map(({ name, medianUs, lowestUs, highestUs, ratio, storeUs }) => [
    name, medianUs.toFixed(1), `${lowestUs.toFixed(1)} to ${highestUs.toFixed(1)}`, `${ratio.toFixed(2)} ×`, storeUs === null ? '' : storeUs.toFixed(1),
  ]);
  const lines = [['CPU µs per request', 'median', 'range', 'to bare', 'store process'], ...rows];
  const widths = lines[0]!.map((_, column) => Math.max(...lines.map((line) => line[column]!.length)));
  return lines.map((line) => line.map((cell, column) => (column === 0 ? cell.padEnd(widths[column]!) : cell.padStart(widths[column]!))).join('   ').trimEnd()).join('\n');
}

function tenths(us: number): number {
  return Math.round(us * 10) / 10;
}
