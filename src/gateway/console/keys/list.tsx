import { isKeyId } from '../../accounts/token.js';
import { KeyPage } from '../../admin/openapi/schemas.js';
import { SelectField, TextField } from '../../pages/components/form.js';
import { Moment } from '../../pages/components/moment.js';
import { Pager } from '../../pages/components/pager.js';
import { Table } from '../../pages/components/table.js';
import { State } from '../accounts/state.js';
import { CONSOLE, type PageAnswer, type Visit } from '../page.js';
import { pathOf } from '../accounts/account.js';

const KEYS = `${CONSOLE}/keys`;
const STATUSES = ['enabled', 'disabled', 'revoked'];
const PER_PAGE = 50;

/** Keys by id, page by page; the id of one leads to it. */
export async function listKeys(visit: Visit): Promise<PageAnswer> {
  const { api, query } = visit;
  const search = query.given('search');
  if (search !== undefined && isKeyId(search)) return { to: pathOf('/keys', search) };
  const filter = {
    name: search,
    plan: query.given('plan'),
    status: query.given('status'),
    customer: query.given('customer'),
  };
  const cursor = query.given('cursor');
  const page = await api.ask(KeyPage, 'GET /admin/v1/keys', { query: { ...filter, cursor, limit: String(PER_PAGE) } });
  return {
    content: (
      <>
        {api.may('POST /admin/v1/keys') && (
          <p>
            <a class="button main" href={`${KEYS}/new`}>
              Create a key
            </a>
          </p>
        )}
        <Filter visit={visit} />
        <Table
          caption="Keys by id"
          empty="No key is like this."
          rows={page.keys}
          columns={[
            { head: 'Id', cell: ({ id }) => <a href={pathOf('/keys', id)}>{id}</a> },
            { head: 'Name', cell: ({ name }) => name },
            { head: 'State', cell: ({ state }) => <State state={state} /> },
            { head: 'Plan', cell: ({ plan }) => plan },
            {
              head: 'Customer',
              cell: ({ customer }) => customer && <a href={pathOf('/customers', customer)}>{customer}</a>,
            },
            { head: 'Created', cell: ({ created }) => <Moment at={created} /> },
            { head: 'Expires', cell: ({ expires }) => expires !== null && <Moment at={expires} /> },
          ]}
        />
        <Pager path={KEYS} query={{ ...filter, name: undefined, search }} cursor={cursor} next={page.cursor} />
      </>
    ),
  };
}

function Filter({ visit: { query, parts } }: { readonly visit: Visit }) {
  const any = { value: '', label: 'any' };
  const choices = (values: readonly string[]) => [any, ...values.map((value) => ({ value, label: value }))];
  return (
    <form method="get" action={KEYS} class="filter">
      <TextField name="search" label="Id, or the start of the name" type="search" value={query.text('search')} />
      <SelectField name="plan" label="Plan" choices={choices(parts.registry.openPlans)} value={query.text('plan')} />
      <SelectField name="status" label="Status" choices={choices(STATUSES)} value={query.text('status')} />
      <TextField name="customer" label="Customer’s id" value={query.text('customer')} />
      <button>Search</button>
    </form>
  );
}
