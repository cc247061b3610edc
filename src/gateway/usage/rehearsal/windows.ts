import { DAY_MS, SHAPES, type BucketState, type Per } from '../../admission/bucket.js';
import type { SubjectState } from '../../admission/decide.js';
import type { Terms } from '../../admission/plan.js';
import { perOf, refillOf, settleWindow, windowsOf, type HeldWindow } from '../../admission/windows.js';
import type { LoggedDecision, LoggedWindow } from './line.js';
import type { Doubt, SeenWindow, Subject } from './subjects.js';

/**
 * Takes from the log what the replay cannot compute: units spent in a window before its first line, and units that
 * later lines show beyond what earlier lines explain. A log with gaps is thus replayed as if the missing requests had
 * been admitted.
 */
export class LoggedWindows {
  /** Units of day windows that the log shows as spent, but not by any of its lines. */
  #missingUnits = 0;

  get missingUnits(): number {
    return Math.round(this.#missingUnits);
  }

  /** Follows the windows of a line. Returns why `subject` is in doubt from now on; null if nothing was adjusted. */
  follow(subject: Subject, terms: Terms, line: LoggedDecision): Doubt | null {
    let doubt: Doubt | null = null;
    const trickled = isTrickling(terms, line);
    for (const name in line.windows) {
      const window = line.windows[name]!;
      const per = perOf(name);
      const isTrickle = trickled && per !== 'month';
      const seen = seenIn(subject, name);
      if (line.local) {
        // In outage mode a line shows a gateway's share; the store gets the units later.
        if (seen !== null) expect(seen, per, isTrickle, line);
      } else if (seen === null) {
        subject.seen.push(seenOf(name, window, line));
        if (spentBefore(subject.state, name, window, isTrickle, line)) doubt ??= 'seen_midway';
      } else {
        const units = isTrickle ? unexplainedTrickle(seen, per, window, line) : unexplained(seen, window, line);
        if (units === 0) continue;
        doubt = units > 0 ? 'missing' : 'forgotten';
        if (name === 'day') this.#missingUnits += Math.max(0, units);
        charge(subject.state, name, units, terms, line, seen.endMs);
      }
    }
    return doubt;
  }
}

function seenIn({ seen }: Subject, name: string): SeenWindow | null {
  for (const one of seen) if (one.name === name) return one;
  return null;
}

/** Starts to follow a window. Without a limit, only the units of this line are known. */
function seenOf(name: string, [limit, remaining, resetMs]: LoggedWindow, line: LoggedDecision): SeenWindow {
  const spent = limit === null || remaining === null ? takenBy(line) : limit - remaining;
  return { name, limit, endMs: line.atMs + resetMs, spent };
}

/** Whether the original plan refilled greedily: then a day resets at other times than midnight. */
function isTrickling({ refill }: Terms, { windows, atMs }: LoggedDecision): boolean {
  const [limit = null, , resetMs = 0] = windows['day'] ?? [];
  return limit === null ? refill === 'greedy' : (atMs + resetMs) % DAY_MS !== 0;
}

/** Adds what a line took from a window whose state it does not show. */
function expect(seen: SeenWindow, per: Per, isTrickle: boolean, line: LoggedDecision): void {
  const units = takenBy(line);
  if (!isTrickle && line.atMs < seen.endMs) seen.spent += units;
  else if (isTrickle && seen.limit !== null)
    seen.endMs = Math.max(seen.endMs, line.atMs) + (units * SHAPES[per].parts) / seen.limit;
}

/** Returns units spent since `seen` other than by this line; negative if the store has fewer than the log. */
function unexplained(seen: SeenWindow, [limit, remaining, resetMs]: LoggedWindow, line: LoggedDecision): number {
  const endMs = line.atMs + resetMs;
  const expected = (endMs === seen.endMs ? seen.spent : 0) + takenBy(line);
  seen.endMs = endMs;
  seen.spent = expected;
  if (limit === null || remaining === null) return 0;
  // More than the limit may be spent, after a plan change or an outage.
  seen.spent = remaining === 0 ? Math.max(expected, limit) : limit - remaining;
  return seen.spent - expected;
}

/** The same for greedy refill, from the time of the reset: in ms, so the result has fractions of units. */
function unexplainedTrickle(
  seen: SeenWindow,
  per: Per,
  [limit, remaining, resetMs]: LoggedWindow,
  line: LoggedDecision,
): number {
  const leftMs = Math.max(0, seen.endMs - line.atMs);
  const isComparable = limit === seen.limit;
  seen.limit = limit;
  seen.endMs = line.atMs + resetMs;
  if (limit === null || remaining === null || !isComparable) return 0;
  const perMs = limit / SHAPES[per].parts;
  const expected = leftMs * perMs + takenBy(line);
  const units = resetMs * perMs - expected;
  return Math.abs(units) <= 2 * perMs ? 0 : units;
}

/** Returns the units that a request took from its windows. */
function takenBy({ outcome, cost }: LoggedDecision): number {
  return outcome === 'admitted' ? cost : 0;
}

/** Sets a window to what the log shows as spent before its first line. Returns false if nothing was. */
function spentBefore(
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
function charge(
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
