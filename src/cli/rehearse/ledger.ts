import { Readable } from 'node:stream';
import type { LedgerOutcome, LedgerRow } from '../../gateway/usage/rehearsal/ledger/tally.js';
import type { Connect } from '../client.js';
import { styled, table } from '../output.js';
import { cell } from '../../shared/readable.js';
import { checkPlans, MAX_SHOWN, moneyIn, sumsIn, titled, withNotes } from './show.js';

const NOTES = [
  'Only days and months: a ledger has no minutes, bans, refused requests or grants.',
  'Greedy refill is assumed to admit twice the daily limit, so the units above may be too few, never too many.',
];

/** Asks the gateway, which may take minutes. */
export async function rehearsedLedger(connect: Connect, file: string, month: string): Promise<LedgerOutcome> {
  const { readPlanFile } = await import('../../gateway/config/load.js');
  const plans = Readable.from([Buffer.from(JSON.stringify(readPlanFile(file)))]);
  const path = `/admin/v1/plans/rehearse?${new URLSearchParams({ month }).toString()}`;
  const outcome = (await (await connect()).upload(path, plans)) as unknown as LedgerOutcome;
  checkPlans(outcome.missingPlans, file);
  return outcome;
}

export function textOfLedger(outcome: LedgerOutcome): string {
  const { from, to, final, plans, payers, payersUnlisted, excesses, excessesUnlisted, owed } = outcome;
  const growing = final ? 'final' : styled('dim', 'still growing');
  const parts = [`The ledger from ${cell(from)} to ${cell(to)} (UTC), ${growing}.`];
  if (plans.length === 0) return withNotes([...parts, 'Nothing was used.'], []);
  parts.push(tableOf(plans, ({ plan }) => [cell(plan)], ['plan']));
  if (payers.length > 0)
    parts.push(
      titled('Customers, and keys without one, whose figures change', payers.length + payersUnlisted),
      tableOf(payers.slice(0, MAX_SHOWN), (row) => [whoOf(row), cell(row.plan)], ['customer or key', 'plan']),
    );
  if (excesses.length > 0)
    parts.push(
      titled('New limits that are below what was used', excesses.length + excessesUnlisted),
      table(
        ['customer or key', 'plan', 'window', 'day', 'limit', 'units above'],
        excesses
          .slice(0, MAX_SHOWN)
          .map((row) => [whoOf(row), cell(row.plan), cell(row.window), cell(row.day), row.limit, row.units]),
      ),
    );
  if (owed !== undefined) parts.push(`Owed: ${sumsIn(owed)}.`);
  return withNotes(parts, NOTES);
}

function whoOf({ payer, name }: Pick<LedgerRow, 'payer' | 'name'>): string {
  return name === '' ? cell(payer) : `${cell(payer)} ${cell(name)}`;
}

function tableOf(
  rows: readonly LedgerRow[],
  namesOf: (row: LedgerRow) => readonly string[],
  names: readonly string[],
): string {
  const isPriced = rows.some(({ owed }) => owed !== undefined);
  return table(
    [...names, 'requests', 'refused', 'units', 'then', 'above', ...(isPriced ? ['owed', 'then'] : [])],
    rows.map(({ before, after, above, owed, ...row }) => [
      ...namesOf({ before, after, above, ...row }),
      ...[before.requests, before.refused, before.units, after.units, above],
      ...(isPriced ? [moneyIn(owed?.before), moneyIn(owed?.after)] : []),
    ]),
  );
}
