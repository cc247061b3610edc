import type { MoneyView } from '../../gateway/usage/grouping/money-view.js';
import type { Owed } from '../../gateway/usage/rehearsal/bills.js';
import type { Outcome } from '../../gateway/usage/rehearsal/rehearsal.js';
import type { Row } from '../../gateway/usage/rehearsal/tally.js';
import { CommandError } from '../command-error.js';
import { styled, table } from '../output.js';
import { withCurrency } from '../../shared/currency.js';
import { cell } from '../../shared/readable.js';

/** Rows shown; --json has all. */
export const MAX_SHOWN = 20;
const COUNTS = ['admitted', 'limited', 'banned', 'units'] as const;

/** Why lines were not rehearsed, for people; without the reasons that do not affect the result. */
const IGNORED: Partial<Record<keyof Outcome['ignored'], string>> = {
  repeated: 'appeared twice and were counted once: a log, or a copy of it, was named twice',
  late: 'came too late to be put in order',
  crowded: 'belong to keys or addresses beyond the 200,000 that are followed',
  undecided: 'had no decision: the store was unavailable, or the request could not be read',
  old: 'are from a version that logged too little',
  strange: 'look like access lines, but are not',
  unreadable: 'are not JSON',
};
const DOUBTS: Record<keyof Outcome['doubtful'], string> = {
  seen_midway: 'belong to keys or addresses whose windows, refusals or bans began before the log',
  missing: 'follow requests of the same key or address that the log lacks',
  forgotten: 'follow a loss of the store, which had less than the log says',
  granted: 'belong to keys with a grant, which is assumed to end when it did',
  local: 'follow decisions that a gateway made in outage mode, while Redis was unavailable',
  late: 'follow lines that came too late',
  by_hand: 'follow a ban that was set or lifted by hand',
};

const OF_AMOUNTS =
  'Amounts have the base price and included units of the days in the log, and only of payers with requests in it.';

export function textOfLog(outcome: Outcome): string {
  const { from, to, rehearsed, different, plans, payers, refused, refusedUnlisted, owed } = outcome;
  const parts = [
    `${rehearsed} requests from ${cell(from)} to ${cell(to)} (store's clock), ${different} decided otherwise.`,
    tableOf(plans, (row) => [row.plan], ['plan']),
  ];
  if (payers.length > 0)
    parts.push(
      titled('Customers, and keys without one, whose figures change', payers.length),
      tableOf(payers.slice(0, MAX_SHOWN), ({ plan, payer }) => [cell(payer), plan], ['customer or key', 'plan']),
    );
  if (owed !== undefined)
    parts.push(`Owed for ${cell(from?.slice(0, 10))} to ${cell(to?.slice(0, 10))} (UTC days): ${sumsIn(owed)}.`);
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
  return withNotes(parts, notesOn(outcome));
}

/** Throws CommandError if the file lacks plans that requests were on. @param missing number of requests by plan */
export function checkPlans(missing: Readonly<Record<string, number>>, file: string): void {
  const lacks = Object.entries(missing).map(([plan, requests]) => `${plan} (${requests} requests)`);
  if (lacks.length === 0) return;
  throw new CommandError(
    `${file} lacks plans that requests were on, or limits for them: ${lacks.join(', ')}. Add them ` +
      '(retired: true keeps a plan for those who have it), then try again.',
  );
}

/** Formats an amount; if it is unknown, why. */
export function moneyIn(money: MoneyView | null | undefined): string {
  if (money?.amount === undefined) return cell(money?.unknown);
  return withCurrency(money.amount, money.currency ?? '');
}

/** Formats the sums that were owed, if known, and those that would be. */
export function sumsIn({ before, after }: Owed<readonly MoneyView[]>): string {
  const [then, now] = [before, after].map((sums) => sums?.map(moneyIn).join(' and ') || 'nothing that is known');
  return before === null ? `then ${cell(now)}` : `${cell(then)}, then ${cell(now)}`;
}

/** Joins the parts of a text, and its notes. */
export function withNotes(parts: readonly string[], notes: readonly string[]): string {
  const lines = notes.map((note) => `${styled('yellow', 'note:')} ${note}`).join('\n');
  return [...parts, ...(lines === '' ? [] : [lines])].join('\n\n');
}

export function titled(title: string, count: number): string {
  return count > MAX_SHOWN ? `${title} (${MAX_SHOWN} of ${count}; --json has more):` : `${title}:`;
}

function tableOf(rows: readonly Row[], namesOf: (row: Row) => readonly string[], names: readonly string[]): string {
  const isPriced = rows.some(({ owed }) => owed !== undefined);
  const headings = [...COUNTS, ...(isPriced ? ['owed'] : [])].flatMap((name) => [name, 'then']);
  return table(
    [...names, ...headings],
    rows.map((row) => [
      ...namesOf(row),
      ...COUNTS.flatMap((name) => [row.before[name], row.after[name]]),
      ...(isPriced ? [moneyIn(row.owed?.before), moneyIn(row.owed?.after)] : []),
    ]),
  );
}

function notesOn({ ignored, doubtful, dropped, sampled, missingUnits, owed }: Outcome): readonly string[] {
  return [
    ...(owed === undefined ? [] : [OF_AMOUNTS]),
    ...(owed?.before === null
      ? ['What was owed is unknown: name the file with the prices of that time with --today.']
      : []),
    ...(sampled ? ['The log is a sample (log.sampled): figures count only the lines that it has.'] : []),
    ...(dropped > 0
      ? [`${dropped} access lines are missing: gateways dropped them because nothing read their log.`]
      : []),
    ...(missingUnits > 0
      ? [`${missingUnits} units were spent by requests that the log lacks: windows count them, figures do not.`]
      : []),
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
