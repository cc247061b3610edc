import { settle, SHAPES } from '../bucket.js';
import type { BucketShape, BucketState, Limit, Refill, WindowFigures } from '../bucket.js';
import type { SubjectState } from '../decide.js';
import type { Terms } from '../plan.js';
import type { CachedKey } from './key-cache.js';
import type { LastVerdict } from './last-verdicts.js';
import { partOf } from './shares.js';

/**
 * Brings what is remembered here of a key near what Redis last showed: of each window no more than this
 * gateway's part of what was left there, and the ban that was in force. Never gives anything back.
 * @param terms those of the share
 */
export function restrain(
  state: SubjectState,
  terms: Terms,
  last: LastVerdict | undefined,
  key: CachedKey,
  gateways: number,
  nowMs: number,
): void {
  if (last !== undefined) {
    const { minute, day } = last.verdict;
    restrainWindow(state.minute, SHAPES.minute, terms.limits.minute, terms.refill, minute, last, gateways, nowMs);
    restrainWindow(state.day, SHAPES.day, terms.limits.day, terms.refill, day, last, gateways, nowMs);
  }
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

function restrainWindow(
  bucket: BucketState,
  shape: BucketShape,
  share: Limit,
  refill: Refill,
  seen: WindowFigures,
  { verdict }: LastVerdict,
  gateways: number,
  nowMs: number,
): void {
  if (share === 'unlimited' || seen.limit === 'unlimited') return;
  // The limit is another by now, or the window is over: what was left of it says nothing.
  if (partOf(seen.limit, gateways) !== share || (refill === 'interval' && seen.resetAtMs <= nowMs)) return;
  const left = Math.min(share, Math.floor(seen.remaining / gateways));
  const spent = (share - left) * shape.perMs;
  // What a greedy bucket lacks shows in how long it takes to be whole: that may be more than its limit.
  const then =
    refill === 'interval'
      ? { level: spent, atMs: seen.resetAtMs - shape.perMs }
      : { level: Math.max(spent, (seen.resetAtMs - verdict.atMs) * share), atMs: verdict.atMs };
  settle(then, shape, share, refill, nowMs);
  settle(bucket, shape, share, refill, nowMs);
  if (then.level > bucket.level) Object.assign(bucket, then);
}
