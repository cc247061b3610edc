import { lastDayOf } from '../../../shared/utc-month.js';
import { Table } from '../../pages/components/table.js';
import { addressOf } from '../../pages/components/pager.js';
import { CONSOLE } from '../page.js';

const SHOWN = 12;

/** Leads to the bill of each month before this one, since the customer was created. @param created ISO 8601 */
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

/** `2026-10`, the latest first. */
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
