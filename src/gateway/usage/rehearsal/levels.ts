import { SHAPES, type BucketState } from '../../admission/bucket.js';
import type { SubjectState } from '../../admission/decide.js';
import type { Terms } from '../../admission/plan.js';
import { perOf, refillOf, settleWindow, windowsOf, type HeldWindow } from '../../admission/windows.js';
import type { LoggedDecision, LoggedWindow } from './line.js';

/** Returns the units that a request took from its windows. */
export function takenBy({ outcome, cost }: LoggedDecision): number {
  return outcome === 'admitted' ? cost : 0;
}

/** Sets a window to what the log shows as spent before its first line. Returns false if nothing was. */
export function spentBefore(
  state: SubjectState,
  name: string,
  [limit, remaining, resetMs]: LoggedWindow,
  isGreedy: boolean,
  line: LoggedDecision,
): boolean {
  if (limit === null || remaining === null) return false;
  const per = perOf(name);
  const { parts, perMs } = SHAPES[per];
  const after = isGreedy ? Math.min(resetMs * limit, limit * parts) : (limit - remaining) * parts;
  const level = Math.max(0, after - takenBy(line) * parts);
  if (level === 0) return false;
  const bucket = bucketIn(state, name);
  bucket.level = level;
  bucket.atMs = per === 'minute' && !isGreedy ? line.atMs + resetMs - perMs : line.atMs;
  return true;
}

/** Adds units to a window that no line accounts for; negative ones are taken off. @param endMs when it resets */
export function charge(
  state: SubjectState,
  name: string,
  units: number,
  terms: Terms,
  { atMs, windows, operation }: LoggedDecision,
  endMs: number,
): void {
  const per = perOf(name);
  const own = windowsOf(terms, operation).find((one) => one.name === name);
  const window = { name, per, limit: own?.limit ?? terms.limits[per] ?? 'unlimited' };
  add({ ...window, refill: refillOf(per, terms.refill), bucket: bucketIn(state, name) }, units, atMs, endMs);
  if (name !== 'day' || windows['month'] !== undefined) return;
  // The month counts on every plan, but lines show it only if the plan has one.
  const month = { name: 'month', per: 'month', limit: 'unlimited', refill: 'interval', bucket: state.month } as const;
  add(month, units, atMs, endMs);
}

function add(window: HeldWindow, units: number, atMs: number, endMs: number): void {
  const { per, refill, bucket } = window;
  const { parts, perMs } = SHAPES[per];
  settleWindow(window, atMs);
  // A minute begins with its first request.
  if (bucket.level === 0 && per === 'minute' && refill === 'interval') bucket.atMs = endMs - perMs;
  bucket.level = Math.max(0, bucket.level + Math.round(units * parts));
}

function bucketIn(state: SubjectState, name: string): BucketState {
  if (name === 'minute' || name === 'day' || name === 'month') return state[name];
  const windows = (state.operationWindows ??= new Map<string, BucketState>());
  const bucket = windows.get(name) ?? { level: 0, atMs: 0 };
  windows.set(name, bucket);
  return bucket;
}
