import type { MoneyView } from '../../gateway/usage/grouping/money-view.js';
import type { LedgerOutcome } from '../../gateway/usage/rehearsal/ledger/rehearse.js';
import type { Outcome } from '../../gateway/usage/rehearsal/rehearsal.js';
import type { BeforeAndAfter, Figures, Row } from '../../gateway/usage/rehearsal/tally.js';
import { CommandError } from '../terminal/command-error.js';
import { styled, table } from '../terminal/output.js';
import { withCurrency } from '../../shared/currency.js';
import { cell } from '../../shared/text/readable.js';

/** Rows shown; --json has all. */
const MAX_SHOWN = 20;

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
const OF_LEDGER = [
  'Only days and months: a ledger has no minutes, bans, refused requests or grants.',
  'Greedy refill is assumed to admit twice the daily limit, so the units above may be too few, never too many.',
];

type Column<Shown> = readonly [heading: string, (row: Shown) => string | number];
type AnyRow = Row<Figures> & { readonly name?: string };

const COUNTS = ['admitted', 'limited', 'banned', 'units'].flatMap((name): readonly Column<AnyRow>[] => [
  [name, ({ before }) => before[name]!],
  ['then', ({ after }) => after[name]!],
]);
const USE: readonly Column<AnyRow>[] = [
  ...['requests', 'refused', 'units'].map((name): Column<AnyRow> => [name, ({ before }) => before[name]!]),
  ['then', ({ after }) => after['units']!],
  ['above', ({ above = 0 }) => above],
];
const OWED: readonly Column<AnyRow>[] = [
  ['owed', ({ owed }) => moneyIn(owed?.before)],
  ['then', ({ owed }) => moneyIn(owed?.after)],
];
const PLAN: Column<{ readonly plan: string }> = ['plan', ({ plan }) => cell(plan)];
const WHO: Column<Pick<AnyRow, 'payer' | 'name'>> = [
  'customer or key',
  ({ payer, name = '' }) => (name === '' ? cell(payer) : `${cell(payer)} ${cell(name)}`),
];

export function textOfLog(outcome: Outcome): string {
  const { from, to, rehearsed, different, refused, refusedUnlisted, owed } = outcome;
  return textOf(notesOn(outcome), [
    `${rehearsed} requests from ${cell(from)} to ${cell(to)} (store's clock), ${different} decided otherwise.`,
    ...tablesOf(outcome, COUNTS),
    ...(owed === undefined
      ? []
      : [`Owed for ${cell(from?.slice(0, 10))} to ${cell(to?.slice(0, 10))} (UTC days): ${sumsIn(owed)}.`]),
    ...titled('Keys that would be refused requests that passed, and when first', refused, refusedUnlisted, [
      ['key', ({ key }) => key],
      PLAN,
      ['first at', ({ at }) => at],
      ['operation', ({ operation }) => cell(operation)],
      ['refused by', ({ window }) => (window === null ? 'a ban' : cell(window))],
      ['requests', ({ requests }) => requests],
    ]),
  ]);
}

export function textOfLedger(outcome: LedgerOutcome): string {
  const { from, to, final, plans, excesses, excessesUnlisted, owed } = outcome;
  const growing = final ? 'final' : styled('dim', 'still growing');
  const head = `The ledger from ${cell(from)} to ${cell(to)} (UTC), ${growing}.`;
  if (plans.length === 0) return textOf([], [head, 'Nothing was used.']);
  return textOf(OF_LEDGER, [
    head,
    ...tablesOf(outcome, USE),
    ...titled('New limits that are below what was used', excesses, excessesUnlisted, [
      WHO,
      PLAN,
      ['window', ({ window }) => cell(window)],
      ['day', ({ day }) => cell(day)],
      ['limit', ({ limit }) => limit],
      ['units above', ({ units }) => units],
    ]),
    ...(owed === undefined ? [] : [`Owed: ${sumsIn(owed)}.`]),
  ]);
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
function moneyIn(money: MoneyView | null | undefined): string {
  if (money?.amount === undefined) return cell(money?.unknown);
  return withCurrency(money.amount, money.currency ?? '');
}

/** Formats the sums that were owed, if known, and those that would be. */
function sumsIn({ before, after }: BeforeAndAfter<readonly MoneyView[]>): string {
  const [then, now] = [before, after].map((sums) => sums?.map(moneyIn).join(' and ') || 'nothing that is known');
  return before === null ? `then ${cell(now)}` : `${cell(then)}, then ${cell(now)}`;
}

function textOf(notes: readonly string[], parts: readonly string[]): string {
  const lines = notes.map((note) => `${styled('yellow', 'note:')} ${note}`).join('\n');
  return [...parts, ...(lines === '' ? [] : [lines])].join('\n\n');
}

/** Returns a table of the plans, and one of the payers whose figures change. */
function tablesOf(
  {
    plans,
    payers,
    payersUnlisted = 0,
  }: Pick<Outcome | LedgerOutcome, 'plans' | 'payers'> & { payersUnlisted?: number },
  figures: readonly Column<AnyRow>[],
): readonly string[] {
  const columns = plans.some(({ owed }) => owed !== undefined) ? [...figures, ...OWED] : figures;
  return [
    tableOf(plans, [PLAN, ...columns]),
    ...titled('Customers, and keys without one, whose figures change', payers, payersUnlisted, [WHO, PLAN, ...columns]),
  ];
}

/** Returns the first rows under a title; nothing if there are none. */
function titled<Shown>(
  title: string,
  rows: readonly Shown[],
  unlisted: number,
  columns: readonly Column<Shown>[],
): readonly string[] {
  if (rows.length === 0) return [];
  const count = rows.length + unlisted;
  const more = count > MAX_SHOWN ? ` (${MAX_SHOWN} of ${count}; --json has more)` : '';
  return [`${title}${more}:`, tableOf(rows.slice(0, MAX_SHOWN), columns)];
}

function tableOf<Shown>(rows: readonly Shown[], columns: readonly Column<Shown>[]): string {
  return table(
    columns.map(([heading]) => heading),
    rows.map((row) => columns.map(([, read]) => read(row))),
  );
}

function notesOn({ ignored, doubtful, dropped, sampled, missingUnits, owed }: Outcome): readonly string[] {
  const counted = (counts: Readonly<Record<string, number>>, words: Readonly<Record<string, string>>, what: string) =>
    Object.entries(words).flatMap(([why, text]) => (counts[why] ? [`${counts[why]} ${what} ${text}.`] : []));
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
    ...counted(ignored, IGNORED, 'lines'),
    ...counted(doubtful, DOUBTS, 'of the different decisions'),
  ];
}
