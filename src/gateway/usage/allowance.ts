/** Token buckets by name, in this process only. */
interface Allowance {
  /** Takes a token. Returns 0, or the ms until the next token. @param nowMs of a monotonic clock */
  take(name: string, nowMs: number): number;
}

interface Bucket {
  tokens: number;
  atMs: number;
}

/** Limits each name to `perSecond`, with a burst. Beyond `max` names, the oldest is forgotten and starts full again. */
export function createAllowance(perSecond: number, burst: number, max: number): Allowance {
  const buckets = new Map<string, Bucket>();
  const perMs = perSecond / 1000;
  const bucketOf = (name: string, nowMs: number): Bucket => {
    const known = buckets.get(name);
    if (known !== undefined) return known;
    if (buckets.size >= max) {
      const oldest = buckets.keys().next();
      if (oldest.done !== true) buckets.delete(oldest.value);
    }
    const bucket = { tokens: burst, atMs: nowMs };
    buckets.set(name, bucket);
    return bucket;
  };
  return {
    take: (name, nowMs) => {
      const bucket = bucketOf(name, nowMs);
      bucket.tokens = Math.min(burst, bucket.tokens + (nowMs - bucket.atMs) * perMs);
      bucket.atMs = nowMs;
      if (bucket.tokens < 1) return Math.ceil((1 - bucket.tokens) / perMs);
      bucket.tokens -= 1;
      return 0;
    },
  };
}
