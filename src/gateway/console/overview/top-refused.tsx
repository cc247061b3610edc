import type { z } from 'zod';
import { RefusedList } from '../../actions/schemas.js';
import { Table } from '../../pages/components/table.js';
import { pathOf } from '../accounts/account.js';
import type { AdminApi } from '../api.js';

const ROUTE = 'GET /admin/v1/refused';
const SHOWN = 5;

export type Refused = z.output<typeof RefusedList>;

export function mayReadRefused(api: AdminApi): boolean {
  return api.may(ROUTE);
}

/** Null if the visitor may not see keys. */
export async function readRefused(api: AdminApi): Promise<Refused | null> {
  return mayReadRefused(api) ? api.ask(RefusedList, ROUTE) : null;
}

/** Shows which keys and addresses had the most refused or failed requests in the last hour. */
export function TopRefused({ refused, silentWorkers }: Refused) {
  return (
    <>
      <h2>Most refused</h2>
      {silentWorkers > 0 && <p class="soft">{silentWorkers} workers did not respond, and their counts are missing.</p>}
      <Table
        caption="Refused or failed requests, by key or address and response"
        empty="None in the last hour."
        rows={refused.slice(0, SHOWN)}
        columns={[
          { head: 'Key or address', cell: callerOf },
          {
            head: 'Customer',
            cell: ({ customer }) => customer !== null && <a href={pathOf('/customers', customer)}>{customer}</a>,
          },
          { head: 'Response', cell: ({ status, code }) => `${status} ${code ?? 'of the upstream'}` },
          { head: '5 minutes', number: true, cell: ({ lastFiveMinutes }) => lastFiveMinutes },
          { head: 'Hour', number: true, cell: ({ lastHour }) => lastHour },
          {
            head: 'Action',
            cell: ({ key }) => key !== null && <a href={pathOf('/keys', key)}>Ban, or change the limits</a>,
          },
        ]}
      />
    </>
  );
}

function callerOf({ key, name, address }: Refused['refused'][number]) {
  return key === null ? address : <a href={pathOf('/keys', key)}>{name ?? key}</a>;
}
