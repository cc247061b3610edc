/** A greedy bucket per name, in this process alone. */
interface Allowance {
  /** Takes a token. 0: it was there; else the ms until the next one. @param nowMs of a clock that never steps back */
  take(name: string, nowMs: number): number;
}

interface Bucket {
  tokens: number;
  atMs: number;
}

/** Holds each of `max` names to `perSecond`, with a burst. Beyond `max` the oldest is forgotten, and starts afresh. */
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
