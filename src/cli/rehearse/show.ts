import type { Outcome } from '../../gateway/usage/rehearsal/rehearsal.js';
import type { Row } from '../../gateway/usage/rehearsal/tally.js';
import { cell, styled, table } from '../output.js';

/** More are left to --json. */
const MAX_SHOWN = 20;
const COUNTS = ['admitted', 'limited', 'banned', 'units'] as const;

/** Why lines were not rehearsed, for people; those that say nothing of the result are left out. */
const IGNORED: Partial<Record<keyof Outcome['ignored'], string>> = {
  late: 'came too late to be put in order',
  crowded: 'are of keys or addresses beyond the 200,000 that are followed',
  undecided: 'were decided by nobody: the store was unavailable, or the request could not be read',
  old: 'are of a version that did not write enough',
  strange: 'are no access lines, though they look like some',
  unreadable: 'are no JSON',
};
const DOUBTS: Record<keyof Outcome['doubtful'], string> = {
  seen_midway: 'are of keys or addresses whose windows, refusals or bans began before the log',
  granted: 'are of keys with a grant, which ends as it did',
  local: 'follow decisions that a gateway made by itself while Redis was unavailable',
  late: 'follow lines that came too late',
  by_hand: 'follow a ban that was set or lifted by hand',
};

export function textOf(outcome: Outcome): string {
  const { from, to, rehearsed, different, plans, payers, refused, refusedUnlisted } = outcome;
  const parts = [
    `${rehearsed} requests from ${cell(from)} to ${cell(to)} (store's clock), ${different} decided otherwise.`,
    tableOf(plans, (row) => [row.plan], ['plan']),
  ];
  if (payers.length > 0)
    parts.push(
      titled('Customers, and keys without one, whose figures change', payers.length),
      tableOf(payers.slice(0, MAX_SHOWN), ({ plan, payer }) => [cell(payer), plan], ['customer or key', 'plan']),
    );
  if (refused.length > 0)
    parts.push(
      titled('Keys that would be refused requests that passed, and when first', refused.length + refusedUnlisted),
      table(
        ['key', 'plan', 'first at', 'operation', 'refused by', 'requests'],
        refused
          .slice(0, MAX_SHOWN)
          .map(({ key, plan, at, operation, window, requests }) => [
            ...[key, plan, at, cell(operation), window === null ? 'a ban' : cell(window)],
            requests,
          ]),
      ),
    );
  const notes = notesOn(outcome);
  if (notes.length > 0) parts.push(notes.map((note) => `${styled('yellow', 'note:')} ${note}`).join('\n'));
  return parts.join('\n\n');
}

function titled(title: string, count: number): string {
  return count > MAX_SHOWN ? `${title} (${MAX_SHOWN} of ${count}; --json has more):` : `${title}:`;
}

function tableOf(rows: readonly Row[], namesOf: (row: Row) => readonly string[], names: readonly string[]): string {
  const headings = COUNTS.flatMap((name) => [name, 'then']);
  return table(
    [...names, ...headings],
    rows.map((row) => [...namesOf(row), ...COUNTS.flatMap((name) => [row.before[name], row.after[name]])]),
  );
}

function notesOn({ ignored, doubtful, dropped, sampled }: Outcome): readonly string[] {
  return [
    ...(sampled ? ['The log is a sample (log.sampled): admissions are missing, and windows seem emptier.'] : []),
    ...(dropped > 0 ? [`${dropped} access lines are missing: gateways dropped them, for nobody read their log.`] : []),
    ...Object.entries(IGNORED).flatMap(([why, words]) => {
      const count = ignored[why as keyof typeof ignored];
      return count > 0 ? [`${count} lines ${words}.`] : [];
    }),
    ...Object.entries(DOUBTS).flatMap(([doubt, words]) => {
      const count = doubtful[doubt as keyof typeof doubtful] ?? 0;
      return count > 0 ? [`${count} of the different decisions ${words}.`] : [];
    }),
  ];
}
