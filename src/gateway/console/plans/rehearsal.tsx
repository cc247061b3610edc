import type { z } from 'zod';
import type { PlanRehearsal } from '../../actions/schemas.js';
import { Badge, Notice } from '../../pages/components/notice.js';
import { Table } from '../../pages/components/table.js';
import { fullNumber } from '../../pages/components/figure.js';
import { withCurrency } from '../../../shared/currency.js';

type Outcome = z.output<typeof PlanRehearsal>;
type Row = Outcome['plans'][number];
type Money = Row['owed'] extends infer Owed ? (Owed extends { after: infer After } ? After : never) : never;

/** Most rows shown in a table. */
const MAX_ROWS = 100;

export function RehearsalView({ outcome }: { readonly outcome: Outcome }) {
  const { from, to, final, plans, payers, excesses, owed, missingPlans } = outcome;
  const missing = Object.entries(missingPlans);
  return (
    <>
      <p>
        {`${from} to ${to}, days of UTC: `}
        <Badge level={final ? 'good' : 'warn'}>{final ? 'final' : 'growing'}</Badge>
        {' Only days and months were checked.'}
      </p>
      {missing.length > 0 && (
        <Notice level="danger">
          {'The new plans lack these, which were used and are left out: '}
          {missing.map(([plan, requests]) => `${plan} (${fullNumber(requests)} requests)`).join(', ')}
        </Notice>
      )}
      {owed !== undefined && <p>{`Owed in all: ${sumOf(owed.before)}; with the new plans ${sumOf(owed.after)}.`}</p>}
      <Table caption="By plan" empty="Nothing was used." rows={plans} columns={[PLAN, ...figures(outcome)]} />
      <Table
        caption={`Customers, and keys without one, whose figures change${beyond(payers, outcome.payersUnlisted)}`}
        empty="No figures change."
        rows={payers.slice(0, MAX_ROWS)}
        columns={[WHO, PLAN, ...figures(outcome)]}
      />
      <Table
        caption={`New limits that are below what was used${beyond(excesses, outcome.excessesUnlisted)}`}
        empty="The new days and months allow everything that was used."
        rows={excesses.slice(0, MAX_ROWS)}
        columns={[
          WHO,
          PLAN,
          { head: 'Window', cell: ({ window }) => window },
          { head: 'Day, or the first of a month', cell: ({ day }) => day },
          { head: 'Limit', number: true, cell: ({ limit }) => fullNumber(limit) },
          { head: 'Units above', number: true, cell: ({ units }) => fullNumber(units) },
        ]}
      />
      <p class="soft">
        The most units that could pass: without limits per minute and requests that were refused then. A plan with
        greedy refill is assumed to admit twice its day. A key’s or customer’s own limits are today’s, without grants.
      </p>
    </>
  );
}

const WHO = {
  head: 'Customer or key',
  cell: ({ payer, name }: Pick<Row, 'payer' | 'name'>) =>
    name === '' ? (
      payer
    ) : (
      <>
        <bdi>{name}</bdi>
        {` (${payer ?? ''})`}
      </>
    ),
};
const PLAN = { head: 'Plan', cell: ({ plan }: Pick<Row, 'plan'>) => plan };

function figures({ owed }: Outcome) {
  const counts = [
    { head: 'Requests', number: true, cell: ({ before }: Row) => fullNumber(before.requests) },
    { head: 'Refused', number: true, cell: ({ before }: Row) => fullNumber(before.refused) },
    { head: 'Units', number: true, cell: ({ before }: Row) => fullNumber(before.units) },
    { head: 'With the new plans', number: true, cell: ({ after }: Row) => fullNumber(after.units) },
    { head: 'Above the limits', number: true, cell: ({ above }: Row) => fullNumber(above) },
  ];
  if (owed === undefined) return counts;
  return [
    ...counts,
    { head: 'Owed', number: true, cell: (row: Row) => moneyOf(row.owed?.before) },
    { head: 'With the new plans', number: true, cell: (row: Row) => moneyOf(row.owed?.after) },
  ];
}

/** Returns the amount, or why it is unknown. */
function moneyOf(money: Money | null | undefined): string {
  if (money?.amount === undefined) return money?.unknown ?? '';
  return withCurrency(money.amount, money.currency ?? '');
}

function sumOf(sums: readonly Money[] | null): string {
  return sums?.map(moneyOf).join(' and ') || 'nothing that is known';
}

function beyond(rows: readonly unknown[], unlisted: number): string {
  const all = rows.length + unlisted;
  return all > MAX_ROWS ? ` (${MAX_ROWS} of ${fullNumber(all)}; the command line has more)` : '';
}
