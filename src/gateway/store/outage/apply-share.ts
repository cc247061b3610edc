import { settle, SHAPES } from '../../admission/bucket.js';
import type { SubjectState } from '../../admission/decide.js';
import type { Terms } from '../../admission/plan.js';
import type { StandingVerdict } from '../../admission/verdict.js';
import { closeWindows, EVERY_OPERATION, heldBy, type HeldWindow } from '../../admission/windows.js';
import type { CachedKey } from './cached.js';
import type { LastVerdict } from './last-verdicts.js';
import { partOf } from './shares.js';

/**
 * Charges each local window with this gateway's share of what Redis last showed as spent. Never gives tokens back.
 * @param terms with the limits of the share
 */
export function applyShare(
  state: SubjectState,
  terms: Terms,
  last: LastVerdict | undefined,
  gateways: number,
  nowMs: number,
): void {
  if (last === undefined) return;
  for (const window of heldBy(state, terms, EVERY_OPERATION))
    chargeWindow(window, last.windows.get(window.name), gateways, nowMs);
  closeWindows(state, nowMs);
}

/**
 * Applies the ban of a key that was in force when Redis was last seen.
 * @param nowMs the store's clock
 * @param ourMs this machine's clock, which dated the copy and the verdict
 */
export function applyBan(
  state: SubjectState,
  last: LastVerdict | undefined,
  key: CachedKey,
  nowMs: number,
  ourMs = nowMs,
): void {
  const ban = banOf(last, key, ourMs);
  if (ban === null || ban.untilMs <= state.bannedUntilMs) return;
  // Without strikes, as for an operator's ban: Redis has decided its end.
  Object.assign(state, { bannedUntilMs: ban.untilMs, banLevel: ban.level, strikes: 0, strikesSinceMs: 0 });
}

/**
 * The ban by the newer of copy and verdict: an older one may show a ban that was lifted since. A copy from the future
 * was read before the clock was set back, so it counts as older.
 */
function banOf(last: LastVerdict | undefined, key: CachedKey, ourMs: number): CachedKey['ban'] {
  if (last === undefined || (last.atMs < key.seenAtMs && key.seenAtMs <= ourMs)) return key.ban;
  const { verdict } = last;
  return verdict.outcome === 'banned' ? { untilMs: verdict.bannedUntilMs, level: verdict.level } : null;
}

function chargeWindow(
  { name, per, limit, refill, bucket }: HeldWindow,
  verdict: StandingVerdict | undefined,
  gateways: number,
  nowMs: number,
): void {
  const seen = verdict?.windows.find((window) => window.name === name);
  if (verdict === undefined || seen === undefined || limit === 'unlimited' || seen.limit === 'unlimited') return;
  const shape = SHAPES[per];
  const spent = partOf(seen.limit, gateways) - partOf(seen.remaining, gateways);
  // A minute begins with its first request, days and months with the calendar.
  const atMs = per === 'minute' && refill === 'interval' ? seen.resetAtMs - shape.perMs : verdict.atMs;
  const then = { level: spent * shape.parts, atMs };
  settle(then, shape, limit, refill, nowMs);
  settle(bucket, shape, limit, refill, nowMs);
  if (then.level > bucket.level) Object.assign(bucket, then);
}
