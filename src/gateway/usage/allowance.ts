/** Limits each name to `perSecond`, with a burst. Beyond `max` names, the oldest is forgotten and starts full again. */
export function createAllowance(perSecond: number, burst: number, max: number) {
  /** Token buckets by name, in this process only. */
  const buckets = new Map<string, { readonly tokens: number; readonly atMs: number }>();
  const perMs = perSecond / 1000;
  return {
    /** Takes a token. Returns 0, or the ms until the next token. @param nowMs of a monotonic clock */
    take(name: string, nowMs: number): number {
      const { tokens, atMs } = buckets.get(name) ?? { tokens: burst, atMs: nowMs };
      if (!buckets.has(name) && buckets.size >= max) buckets.delete(buckets.keys().next().value!);
      const left = Math.min(burst, tokens + (nowMs - atMs) * perMs);
      const waitMs = left < 1 ? Math.ceil((1 - left) / perMs) : 0;
      buckets.set(name, { tokens: waitMs > 0 ? left : left - 1, atMs: nowMs });
      return waitMs;
    },
  };
}
