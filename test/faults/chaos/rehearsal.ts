import type { Test } from 'tap';
import { plansFile, toPlans } from '../../../src/gateway/config/schema/plans.js';
import { Rehearsal } from '../../../src/gateway/usage/rehearsal/rehearsal.js';
import { PLANS, TIGHT, type Fleet } from './fleet.js';

/** Nobody bans or grants by hand here, and all lines come in order. */
const REASONS: ReadonlySet<string> = new Set(['seen_midway', 'missing', 'forgotten', 'local']);

/**
 * Decides again, under the plans of then, all that the gateways logged. Each verdict comes out as it was, or there is a
 * reason beside it: the log is a sample, and lacks what killed processes and unread pipes lost; stores lose what they
 * may; and gateways decide by themselves during outages.
 */
export function checkRehearsal(t: Test, { programs, seats }: Fleet): void {
  const lines = programs.flatMap((program) => program.output().split('\n')).filter((line) => line !== '');
  // By the store's clock, whatever that was set to.
  const decidedAt = new Map(lines.map((line) => [line, /"decidedAt":"([^"]*)"/.exec(line)?.[1] ?? '']));
  lines.sort((one, other) => (decidedAt.get(one)! < decidedAt.get(other)! ? -1 : 1));
  let alone = 0;
  const tight = { admitted: 0, limited: 0, reproduced: 0 };
  const rehearsal = new Rehearsal({
    plans: toPlans(plansFile.parse(PLANS)),
    onDecided: ({ plan, outcome, local }, again) => {
      if (local) alone += 1;
      if (plan !== 'tight' || outcome === 'banned') return;
      tight[outcome] += 1;
      if (again === outcome) tight.reproduced += 1;
    },
  });
  for (const line of lines) rehearsal.read(line);
  const { rehearsed, different, doubtful, ignored, dropped, missingUnits } = rehearsal.end();
  const { unreadable, undecided, other, free, ...none } = ignored;
  const said = { alone, rehearsed, different, doubtful, ignored, dropped, missingUnits, tight };
  t.comment(JSON.stringify(said));
  t.equal(
    rehearsed + unreadable + undecided + other + free,
    lines.length,
    'each line is rehearsed, or said why not',
    said,
  );
  t.ok(
    Object.values(none).every((count) => count === 0),
    'and not for another reason',
    said,
  );
  // A request that finds no room at the upstream costs nothing, whether it is turned away for that or for its limit.
  if (free > 0)
    t.match(lines.join(''), /"code":"(upstream_unavailable|overloaded)"/, 'free only where the upstream was full');
  t.ok(unreadable <= 2 * programs.length, 'at most what was cut off in the middle', said);
  const explained = Object.entries(doubtful).flatMap(([reason, count]) => (REASONS.has(reason) ? [count] : []));
  t.equal(
    different,
    explained.reduce((sum, count) => sum + count, 0),
    'what differs has a reason',
    said,
  );
  t.ok(tight.limited > 0, 'a key was refused', said);
  // Of one store by one clock, what is left tells all of the requests that are not in the log.
  const steps = seats.reduce((sum, seat) => sum + seat.steps, 0);
  if (alone === 0 && steps === 0)
    t.equal(doubtful.missing ?? 0, 0, 'that lines are missing alone changes nothing', said);
  t.ok(
    tight.reproduced + (doubtful.local ?? 0) >=
      0.8 * (tight.admitted + tight.limited) - (1 + steps) * TIGHT.limits.minute,
    'and that is how it comes out, but for what gateways decided by themselves, and a minute for each step of a clock',
    said,
  );
}
