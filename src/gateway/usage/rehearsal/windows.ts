import { DAY_MS, SHAPES, type Per } from '../../admission/bucket.js';
import type { Terms } from '../../admission/plan.js';
import { perOf } from '../../admission/windows.js';
import { charge, spentBefore, takenBy } from './levels.js';
import type { LoggedDecision, LoggedWindow } from './line.js';
import type { Doubt, SeenWindow, Subject } from './subjects.js';

/**
 * Takes over from the log what the rehearsal can't know: what was spent of a window before the first line that shows
 * it, and what later lines show beyond what the ones before explain. So a log with gaps is rehearsed as if the requests
 * that it lacks had been admitted.
 */
export class LoggedWindows {
  /** Units per day that the log shows to be spent, and by no line of it. */
  #missingUnits = 0;

  get missingUnits(): number {
    return Math.round(this.#missingUnits);
  }

  /** Why `subject` is not known as well as others from now on; null where nothing was taken over. */
  follow(subject: Subject, terms: Terms, line: LoggedDecision): Doubt | null {
    let doubt: Doubt | null = null;
    const trickled = isTrickling(terms, line);
    for (const name in line.windows) {
      const window = line.windows[name]!;
      const per = perOf(name);
      const isTrickle = trickled && per !== 'month';
      const seen = seenIn(subject, name);
      if (line.local) {
        // It shows a gateway's share; the store hears of it later.
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

/** Of a window without a limit, what is known of it. */
function seenOf(name: string, [limit, remaining, resetMs]: LoggedWindow, line: LoggedDecision): SeenWindow {
  const spent = limit === null || remaining === null ? takenBy(line) : limit - remaining;
  return { name, limit, endMs: line.atMs + resetMs, spent };
}

/** Whether the plan of then got its units back one by one: then a day is whole at any time. */
function isTrickling({ refill }: Terms, { windows, atMs }: LoggedDecision): boolean {
  const [limit = null, , resetMs = 0] = windows['day'] ?? [];
  return limit === null ? refill === 'greedy' : (atMs + resetMs) % DAY_MS !== 0;
}

/** What a line took of a window, which it does not show. */
function expect(seen: SeenWindow, per: Per, isTrickle: boolean, line: LoggedDecision): void {
  const units = takenBy(line);
  if (!isTrickle && line.atMs < seen.endMs) seen.spent += units;
  else if (isTrickle && seen.limit !== null)
    seen.endMs = Math.max(seen.endMs, line.atMs) + (units * SHAPES[per].parts) / seen.limit;
}

/** Units that were spent since `seen`, and not by this line; below 0 where the store has less than the log says. */
function unexplained(seen: SeenWindow, [limit, remaining, resetMs]: LoggedWindow, line: LoggedDecision): number {
  const endMs = line.atMs + resetMs;
  const expected = (endMs === seen.endMs ? seen.spent : 0) + takenBy(line);
  seen.endMs = endMs;
  seen.spent = expected;
  if (limit === null || remaining === null) return 0;
  // More than all may be spent, after a change of plan or an outage.
  seen.spent = remaining === 0 ? Math.max(expected, limit) : limit - remaining;
  return seen.spent - expected;
}

/** The same while units come back one by one, by when all have: to the millisecond, and so with parts of units. */
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
