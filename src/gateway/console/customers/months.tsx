import { lastDayOf } from '../../../shared/utc-month.js';
import { Table } from '../../pages/components/table.js';
import { addressOf } from '../../pages/components/pager.js';
import { CONSOLE } from '../page.js';

const SHOWN = 12;

/** Links to the bills of up to 12 earlier months, back to the customer's creation. @param created ISO 8601 */
export function EarlierMonths({ id, created, nowMs }: { id: string; created: string; nowMs: number }) {
  const months = monthsBefore(nowMs, created.slice(0, 7));
  if (months.length === 0) return null;
  return (
    <Table
      caption="Earlier months"
      empty=""
      rows={months}
      columns={[
        { head: 'Month', cell: (month) => month },
        { head: 'Bill', cell: (month) => <a href={addressFor('/usage', id, month)}>{`Bill of ${month}`}</a> },
        {
          head: 'File',
          cell: (month) => <a href={addressFor('/usage/report.csv', id, month)}>{`CSV of ${month}`}</a>,
        },
      ]}
    />
  );
}

/** Returns months such as `2026-10`, latest first. @param first the earliest to return */
function monthsBefore(nowMs: number, first: string): readonly string[] {
  const now = new Date(nowMs);
  return Array.from({ length: SHOWN }, (_, n) =>
    new Date(Date.UTC(now.getUTCFullYear(), now.getUTCMonth() - 1 - n)).toISOString().slice(0, 7),
  ).filter((month) => month >= first);
}

function addressFor(path: string, customer: string, month: string): string {
  const days = { from: `${month}-01`, to: lastDayOf(month) };
  return addressOf(`${CONSOLE}${path}`, { customer, by: 'customer', ...days });
}
