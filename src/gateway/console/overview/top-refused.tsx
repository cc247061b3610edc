import type { z } from 'zod';
import { RefusedList } from '../../actions/schemas.js';
import { Table } from '../../pages/components/table.js';
import { customerNames } from '../accounts/customer-names.js';
import type { AdminApi } from '../visit/api.js';
import { pathOf } from '../visit/page.js';

const ROUTE = 'GET /admin/v1/refused';
const SHOWN = 5;

type Row = z.output<typeof RefusedList>['refused'][number];

/** A customer's keys together. */
type CustomerRow = Pick<Row, 'customer' | 'lastFiveMinutes' | 'lastHour'>;

export type Refused = NonNullable<Awaited<ReturnType<typeof readRefused>>>;

export function mayReadRefused(api: AdminApi): boolean {
  return api.may(ROUTE);
}

/** Null if the visitor may not see keys. */
export async function readRefused(api: AdminApi) {
  if (!mayReadRefused(api)) return null;
  const { refused, silentWorkers } = await api.ask(RefusedList, ROUTE);
  const [rows, customers] = [refused.slice(0, SHOWN), byCustomer(refused).slice(0, SHOWN)];
  const names = await customerNames(
    api,
    [...rows, ...customers].map(({ customer }) => customer),
  );
  return { rows, customers, names, silentWorkers };
}

/** Returns the most frequent first. */
function byCustomer(rows: readonly Row[]): readonly CustomerRow[] {
  const sums = new Map<string, CustomerRow>();
  for (const { customer, lastFiveMinutes, lastHour } of rows) {
    if (customer === null) continue;
    const before = sums.get(customer) ?? { lastFiveMinutes: 0, lastHour: 0 };
    const minutes = before.lastFiveMinutes + lastFiveMinutes;
    sums.set(customer, { customer, lastFiveMinutes: minutes, lastHour: before.lastHour + lastHour });
  }
  return [...sums.values()].sort(
    (one, other) => other.lastFiveMinutes - one.lastFiveMinutes || other.lastHour - one.lastHour,
  );
}

/** Shows which keys, addresses and customers had the most refused or failed requests in the last hour. */
export function TopRefused({ rows, customers, names, silentWorkers }: Refused) {
  const customer = {
    head: 'Customer',
    cell: ({ customer: id }: Pick<Row, 'customer'>) =>
      id !== null && <a href={pathOf('/customers', id)}>{names.get(id)}</a>,
  };
  return (
    <>
      <h2>Most refused</h2>
      {silentWorkers > 0 && <p class="soft">{silentWorkers} workers did not respond, and their counts are missing.</p>}
      <Table
        caption="Refused or failed requests, by key or address and response"
        empty="None in the last hour."
        rows={rows}
        columns={[
          { head: 'Key or address', cell: callerOf },
          customer,
          { head: 'Response', cell: ({ status, code }) => `${status} ${code ?? 'of the upstream'}` },
          ...COUNTS,
          {
            head: 'Action',
            cell: ({ key }) => key !== null && <a href={pathOf('/keys', key)}>Ban, or change the limits</a>,
          },
        ]}
      />
      {customers.length > 0 && (
        <Table
          caption="The same by customer, all keys and responses"
          empty=""
          rows={customers}
          columns={[customer, ...COUNTS]}
        />
      )}
    </>
  );
}

const COUNTS = [
  { head: '5 minutes', number: true, cell: ({ lastFiveMinutes }: CustomerRow) => lastFiveMinutes },
  { head: 'Hour', number: true, cell: ({ lastHour }: CustomerRow) => lastHour },
];

function callerOf({ key, name, address }: Row) {
  return key === null ? address : <a href={pathOf('/keys', key)}>{name ?? key}</a>;
}
