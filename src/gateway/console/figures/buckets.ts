/** Upper bounds of a histogram's buckets, in seconds, and the number of values in each; the last is Infinity. */
export type Buckets = readonly (readonly [bound: number, count: number])[];

/** Returns the growth of each bucket, from the cumulative counts of Prometheus before and now. */
export function bucketsOf(before: ReadonlyMap<string, number>, now: ReadonlyMap<string, number>): Buckets {
  const sums = [...now]
    .map(([bound, sum]) => [bound === '+Inf' ? Infinity : Number(bound), sum - (before.get(bound) ?? 0)] as const)
    .sort(([one], [other]) => one - other);
  return sums.map(([bound, sum], index) => [bound, Math.max(0, sum - (sums[index - 1]?.[1] ?? 0))]);
}

export function countOf(buckets: Buckets): number {
  return buckets.reduce((sum, [, count]) => sum + count, 0);
}

/** Returns a quantile (0.99: p99) as the upper bound of its bucket, in seconds; null without values. */
export function quantileOf(buckets: Buckets, share: number): number | null {
  let left = share * countOf(buckets);
  if (left === 0) return null;
  for (const [bound, count] of buckets) if ((left -= count) <= 0) return bound;
  return Infinity;
}

/** Returns the sum of two histograms. Their bounds may differ if another version recorded one of them. */
export function sumOf(one: Buckets, other: Buckets): Buckets {
  const counts = new Map(one);
  for (const [bound, count] of other) counts.set(bound, (counts.get(bound) ?? 0) + count);
  return [...counts].sort(([first], [second]) => first - second);
}
