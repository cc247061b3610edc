import { settle, SHAPES } from '../bucket.js';
import type { BucketShape, BucketState, Limit, Refill, WindowFigures } from '../bucket.js';
import type { SubjectState } from '../decide.js';
import type { Terms } from '../plan.js';
import type { Copy } from './copies.js';
import type { Meeting } from './met.js';
import { partOf } from './shares.js';

/**
 * Brings what is remembered here of a key near what Redis last showed: of each window no more than this
 * gateway's part of what was left there, and the ban that was in force. Never gives anything back.
 * @param terms those of the share
 */
export function restrain(state: SubjectState, terms: Terms, met: Meeting | undefined, copy: Copy, gateways: number, nowMs: number): void {
  if (met !== undefined) {
    const { minute, day } = met.verdict;
    restrainWindow(state.minute, SHAPES.minute, terms.limits.minute, terms.refill, minute, met, gateways, nowMs);
    restrainWindow(state.day, SHAPES.day, terms.limits.day, terms.refill, day, met, gateways, nowMs);
  }
  const ban = banOf(met, copy, nowMs);
  if (ban === null || ban.untilMs <= state.bannedUntilMs) return;
  state.bannedUntilMs = ban.untilMs;
  state.banLevel = ban.level;
}

/** The newest that was seen of it: a ban may have been lifted since. A copy from the future was seen before the clock was set back. */
function banOf(met: Meeting | undefined, copy: Copy, nowMs: number): Copy['ban'] {
  if (met === undefined || (met.atMs < copy.seenAtMs && copy.seenAtMs <= nowMs)) return copy.ban;
  const { verdict } = met;
  return verdict.outcome === 'banned' ? { untilMs: verdict.bannedUntilMs, level: verdict.level } : null;
}

function restrainWindow(bucket: BucketState, shape: BucketShape, share: Limit, refill: Refill, seen: WindowFigures, { verdict }: Meeting, gateways: number, nowMs: number): void {
  if (share === 'unlimited' || seen.limit === 'unlimited') return;
  // The limit is another by now, or the window is over: what was left of it says nothing.
  if (partOf(seen.limit, gateways) !== share || (refill === 'interval' && seen.resetAtMs <= nowMs)) return;
  const left = Math.min(share, Math.floor(seen.remaining / gateways));
  const spent = (share - left) * shape.perMs;
  // What a greedy bucket lacks shows in how long it takes to be whole: that may be more than its limit.
  const then = refill === 'interval'
    ? { level: spent, atMs: seen.resetAtMs - shape.perMs }
    : { level: Math.max(spent, (seen.resetAtMs - verdict.atMs) * share), atMs: verdict.atMs };
  settle(then, shape, share, refill, nowMs);
  settle(bucket, shape, share, refill, nowMs);
  if (then.level > bucket.level) Object.assign(bucket, then);
}
