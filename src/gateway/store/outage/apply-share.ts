import { settle, SHAPES } from '../../admission/bucket.js';
import type { WindowFigures } from '../../admission/bucket.js';
import type { SubjectState } from '../../admission/decide.js';
import type { Terms } from '../../admission/plan.js';
import { closeWindows, EVERY_OPERATION, heldOf } from '../../admission/windows.js';
import type { HeldWindow } from '../../admission/windows.js';
import type { CachedKey } from './key-cache.js';
import type { LastVerdict } from './last-verdicts.js';
import { partOf } from './shares.js';

/**
 * Charges each window here with this gateway's part of what Redis last showed as spent of it. Never gives anything
 * back.
 * @param terms those of the share
 */
export function applyShare(
  state: SubjectState,
  terms: Terms,
  last: LastVerdict | undefined,
  gateways: number,
  nowMs: number,
): void {
  if (last === undefined) return;
  const { limits, refill } = terms;
  const { minute, day, atMs } = last.verdict;
  for (const window of heldOf(state, terms, EVERY_OPERATION)) {
    const seen = last.more?.get(window.name);
    if (seen !== undefined) chargeWindow(window, seen.figures, seen.atMs, gateways, nowMs);
  }
  closeWindows(state, nowMs);
  chargeWindow({ per: 'minute', limit: limits.minute, refill, bucket: state.minute }, minute, atMs, gateways, nowMs);
  chargeWindow({ per: 'day', limit: limits.day, refill, bucket: state.day }, day, atMs, gateways, nowMs);
}

/** Remembers the ban of a key that was in force when Redis was last seen. */
export function applyBan(state: SubjectState, last: LastVerdict | undefined, key: CachedKey, nowMs: number): void {
  const ban = banOf(last, key, nowMs);
  if (ban === null || ban.untilMs <= state.bannedUntilMs) return;
  // Without strikes, as an operator's: Redis has decided where it ends.
  Object.assign(state, { bannedUntilMs: ban.untilMs, banLevel: ban.level, strikes: 0, strikesSinceMs: 0 });
}

/**
 * The newest that was seen of it: a ban may have been lifted since. A record from the future was read before the clock
 * was set back.
 */
function banOf(last: LastVerdict | undefined, key: CachedKey, nowMs: number): CachedKey['ban'] {
  if (last === undefined || (last.atMs < key.seenAtMs && key.seenAtMs <= nowMs)) return key.ban;
  const { verdict } = last;
  return verdict.outcome === 'banned' ? { untilMs: verdict.bannedUntilMs, level: verdict.level } : null;
}

function chargeWindow(
  { per, limit, refill, bucket }: Omit<HeldWindow, 'name'>,
  seen: WindowFigures,
  seenAtMs: number,
  gateways: number,
  nowMs: number,
): void {
  if (limit === 'unlimited' || seen.limit === 'unlimited') return;
  const shape = SHAPES[per];
  const spent = partOf(seen.limit, gateways) - partOf(seen.remaining, gateways);
  // The minute opened with its first request, days and months with the calendar.
  const atMs = per === 'minute' && refill === 'interval' ? seen.resetAtMs - shape.perMs : seenAtMs;
  const then = { level: spent * shape.parts, atMs };
  settle(then, shape, limit, refill, nowMs);
  settle(bucket, shape, limit, refill, nowMs);
  if (then.level > bucket.level) Object.assign(bucket, then);
}
