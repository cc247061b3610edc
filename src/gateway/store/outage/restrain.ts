import { settle, SHAPES } from '../../admission/bucket.js';
import type { BucketShape, Limit, WindowFigures } from '../../admission/bucket.js';
import type { SubjectState } from '../../admission/decide.js';
import { monthStartMs } from '../../../shared/utc-month.js';
import type { Terms } from '../../admission/plan.js';
import { closeWindows, EVERY_OPERATION, heldOf } from '../../admission/windows.js';
import type { HeldWindow } from '../../admission/windows.js';
import type { CachedKey } from './key-cache.js';
import type { LastVerdict } from './last-verdicts.js';
import { partOf } from './shares.js';

/**
 * Brings what is remembered here of a key, or of its customer, near what Redis last showed: of each window no more
 * than this gateway's part of what was left there. Never gives anything back.
 * @param terms those of the share
 * @param then those of the share when Redis showed it
 */
export function restrainBuckets(
  state: SubjectState,
  terms: Terms,
  last: LastVerdict | undefined,
  gateways: number,
  nowMs: number,
  then: Terms = terms,
): void {
  if (last === undefined) return;
  const { limits, refill } = terms;
  const { minute, day, atMs } = last.verdict;
  const restrain = (name: string, window: Restrained, seen: WindowFigures, seenAtMs: number): void => {
    const shareThen = name === 'minute' || name === 'day' || name === 'month' ? then.limits[name] : window.limit;
    if (shareThen !== undefined) restrainWindow(window, shareThen, seen, seenAtMs, gateways, nowMs);
  };
  for (const window of heldOf(state, terms, EVERY_OPERATION)) {
    const seen = last.more?.get(window.name);
    if (seen !== undefined) restrain(window.name, window, seen.figures, seen.atMs);
  }
  closeWindows(state, nowMs);
  restrain('minute', { per: 'minute', limit: limits.minute, refill, bucket: state.minute }, minute, atMs);
  restrain('day', { per: 'day', limit: limits.day, refill, bucket: state.day }, day, atMs);
}

/** Remembers the ban of a key that was in force when Redis was last seen. */
export function restrainBan(state: SubjectState, last: LastVerdict | undefined, key: CachedKey, nowMs: number): void {
  const ban = banOf(last, key, nowMs);
  if (ban === null || ban.untilMs <= state.bannedUntilMs) return;
  // Without strikes, as an operator's: Redis has decided where it ends.
  Object.assign(state, { bannedUntilMs: ban.untilMs, banLevel: ban.level, strikes: 0, strikesSinceMs: 0 });
}

/** The newest that was seen of it: a ban may have been lifted since. A record from the future was read before the clock was set back. */
function banOf(last: LastVerdict | undefined, key: CachedKey, nowMs: number): CachedKey['ban'] {
  if (last === undefined || (last.atMs < key.seenAtMs && key.seenAtMs <= nowMs)) return key.ban;
  const { verdict } = last;
  return verdict.outcome === 'banned' ? { untilMs: verdict.bannedUntilMs, level: verdict.level } : null;
}

type Restrained = Omit<HeldWindow, 'name'>;

/** @param share this gateway's part of the limit when Redis showed what was left */
function restrainWindow(
  { per, limit, refill, bucket }: Restrained,
  share: Limit,
  seen: WindowFigures,
  seenAtMs: number,
  gateways: number,
  nowMs: number,
): void {
  if (limit === 'unlimited' || share === 'unlimited' || seen.limit === 'unlimited') return;
  // The limit was another by this record, or the window is over: what was left of it says nothing.
  if (partOf(seen.limit, gateways) !== share || (refill === 'interval' && seen.resetAtMs <= nowMs)) return;
  const shape = SHAPES[per];
  const left = Math.min(share, Math.floor(seen.remaining / gateways));
  const spent = (share - left) * shape.parts;
  // What a greedy bucket lacks shows in how long it takes to be whole: that may be more than its limit.
  const then =
    refill === 'interval'
      ? { level: spent, atMs: startOfWindow(shape, seen.resetAtMs) }
      : { level: Math.max(spent, (seen.resetAtMs - seenAtMs) * share), atMs: seenAtMs };
  settle(then, shape, limit, refill, nowMs);
  settle(bucket, shape, limit, refill, nowMs);
  if (then.level > bucket.level) Object.assign(bucket, then);
}

/** When the window began that ends at `endMs`. */
function startOfWindow({ per, perMs }: BucketShape, endMs: number): number {
  return per === 'month' ? monthStartMs(endMs - 1) : endMs - perMs;
}
