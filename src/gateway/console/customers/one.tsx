import { fullNumber } from '../../pages/components/figure.js';
import type { z } from 'zod';
import { Customer, History, KeyPage } from '../../actions/schemas.js';
import { Facts } from '../../pages/components/facts.js';
import { Moment } from '../../pages/components/moment.js';
import { Sections } from '../../pages/components/sections.js';
import { Table } from '../../pages/components/table.js';
import { correctionsPart } from '../accounts/corrections.js';
import { Grants } from '../accounts/grants.js';
import { HistoryTable } from '../accounts/history.js';
import { limitsText } from '../forms/limits.js';
import { ActionForms } from '../forms/offered.js';
import { Outcome } from '../forms/pages.js';
import { State } from '../accounts/state.js';
import { dailyUsage } from '../accounts/usage.js';
import { CONSOLE, pathOf, type Visit } from '../visit/page.js';
import { moneyPart } from './money.js';

const API = '/admin/v1/customers/{id}';
const KEYS = 'GET /admin/v1/keys';
const KEYS_SHOWN = '100';

export async function showCustomer(visit: Visit) {
  const { api, id } = visit;
  const customer = await api.ask(Customer, `GET ${API}`, { id });
  const history = await api.ask(History, `GET ${API}/history`, { id });
  const [money, usage] = await Promise.all([moneyPart(visit, customer), dailyUsage(visit, { customer: id })]);
  return {
    title: `Customer ${customer.name === '' ? customer.id : customer.name}`,
    content: (
      <>
        <Outcome visit={visit} />
        <CustomerFacts customer={customer} />
        <ActionForms visit={visit} record={customer} />
        <Sections
          sections={[
            ['Money', money],
            ['Usage', usage],
            ['Keys', await keysPart(visit, customer)],
            ['Grants', <Grants visit={visit} grants={customer.grants} ended={customer.status === 'closed'} />],
            ['Corrections', await correctionsPart('customer', visit)],
            ['History', <HistoryTable {...history} />],
          ]}
        />
      </>
    ),
  };
}

function CustomerFacts({ customer }: { readonly customer: z.output<typeof Customer> }) {
  const { id, status, reference, plan, limits, credited, note, created } = customer;
  return (
    <Facts
      facts={[
        ['ID', <code>{id}</code>],
        ['State', <State state={status} />],
        ['Reference', reference === '' ? null : reference],
        ['Plan', plan],
        ['Limits', limitsText(limits)],
        ['Credited', credited === undefined ? null : fullNumber(credited)],
        ['Note', note === '' ? null : note],
        ['Created', <Moment at={created} />],
      ]}
    />
  );
}

/** Null if the visitor may not see keys. */
async function keysPart({ api, id }: Visit, { status }: z.output<typeof Customer>) {
  if (!api.may(KEYS)) return null;
  const { keys, cursor } = await api.ask(KeyPage, KEYS, { query: { customer: id, limit: KEYS_SHOWN } });
  return (
    <>
      <Table
        caption="Its keys"
        empty="No keys yet."
        rows={keys}
        columns={[
          { head: 'ID', cell: (key) => <a href={pathOf('/keys', key.id)}>{key.id}</a> },
          { head: 'Name', cell: ({ name }) => name },
          { head: 'State', cell: ({ state }) => <State state={state} /> },
          { head: 'Expires', cell: ({ expires }) => expires !== null && <Moment at={expires} /> },
        ]}
      />
      <p>
        {cursor !== null && <a href={`${CONSOLE}/keys?customer=${id}`}>All its keys</a>}{' '}
        {status !== 'closed' && api.may('POST /admin/v1/keys') && (
          <a href={`${CONSOLE}/keys/new?customer=${id}`}>Create a key for it</a>
        )}
      </p>
    </>
  );
}
