import { lastDayOf } from '../../../shared/utc-month.js';
import { dayOf } from '../../../shared/utc-day.js';
import { BillFacts } from '../../pages/components/bill.js';
import { fullNumber } from '../../pages/components/figure.js';
import { addressOf } from '../../pages/components/pager.js';
import { Table } from '../../pages/components/table.js';
import { netUnits } from '../../store/records/counts.js';
import type { ReportRow } from '../../usage/grouping/groups.js';
import { CONSOLE, pathOf, type Visit } from '../visit/page.js';
import { reportFor } from '../visit/report.js';

const REPORT = 'GET /admin/v1/usage';
const CORRECT = 'POST /admin/v1/usage/corrections';
const SHOWN = 12;

/** Shows what a customer owes this month, with links to earlier bills; null if the visitor may not see it. */
export async function moneyPart(visit: Visit, { id, created }: { readonly id: string; readonly created: string }) {
  const { api, nowMs } = visit;
  if (!api.may(REPORT)) return null;
  const month = dayOf(nowMs).slice(0, 7);
  const report = await reportFor(visit, queryOf(id, month));
  let row: ReportRow | undefined;
  for await (const [first] of report.rows) row ??= first;
  const { totals } = report.end();
  const units = netUnits(totals) + (totals.correctedUnits ?? 0);
  return (
    <>
      <h3>This month so far</h3>
      {row?.currency === undefined ? (
        <p>{`${fullNumber(units)} units: ${row?.unknown ?? 'no plan has a price'}.`}</p>
      ) : (
        <BillFacts bill={{ ...row, units }} />
      )}
      <p>
        <a href={addressOf(`${CONSOLE}/usage`, queryOf(id, month))}>The bill of this month</a>
      </p>
      <EarlierMonths visit={visit} months={monthsBefore(nowMs, created.slice(0, 7))} />
    </>
  );
}

function EarlierMonths({ visit: { api, id }, months }: { readonly visit: Visit; readonly months: readonly string[] }) {
  if (months.length === 0) return null;
  const correct = (month: string): string =>
    `${addressOf(pathOf('/customers', id), { open: 'corrected', day: lastDayOf(month) })}#corrections`;
  return (
    <Table
      caption="Earlier months"
      empty=""
      rows={months}
      columns={[
        { head: 'Month', cell: (month) => month },
        {
          head: 'Bill',
          cell: (month) => <a href={addressOf(`${CONSOLE}/usage`, queryOf(id, month))}>{`Bill of ${month}`}</a>,
        },
        {
          head: 'CSV',
          cell: (month) => (
            <a href={addressOf(`${CONSOLE}/usage/report.csv`, queryOf(id, month))}>{`CSV of ${month}`}</a>
          ),
        },
        { head: 'Correct', cell: (month) => api.may(CORRECT) && <a href={correct(month)}>{`Correct ${month}`}</a> },
      ]}
    />
  );
}

/** Returns up to 12 months such as `2026-10`, latest first. @param first the earliest to return */
function monthsBefore(nowMs: number, first: string): readonly string[] {
  const now = new Date(nowMs);
  return Array.from({ length: SHOWN }, (_, n) =>
    new Date(Date.UTC(now.getUTCFullYear(), now.getUTCMonth() - 1 - n)).toISOString().slice(0, 7),
  ).filter((month) => month >= first);
}

function queryOf(customer: string, month: string) {
  return { customer, by: 'customer', from: `${month}-01`, to: lastDayOf(month) };
}
