import { isCustomerId } from '../../accounts/token.js';
import { CustomerPage } from '../../actions/schemas.js';
import { SearchForm, SelectField, TextField } from '../../pages/components/form.js';
import { LinkButton } from '../../pages/components/links.js';
import { Moment } from '../../pages/components/moment.js';
import { Pager } from '../../pages/components/pager.js';
import { Table } from '../../pages/components/table.js';
import { State } from '../accounts/state.js';
import { CONSOLE, pathOf, type PageAnswer, type Visit } from '../visit/page.js';

const CUSTOMERS = `${CONSOLE}/customers`;
const PER_PAGE = 50;

/** Lists customers, newest first. A search for an ID redirects to that customer. */
export async function listCustomers({ api, parts, query }: Visit): Promise<PageAnswer> {
  const search = query.given('search');
  if (search !== undefined && isCustomerId(search)) return { to: pathOf('/customers', search) };
  const cursor = query.given('cursor');
  const plan = query.given('plan');
  const asked = { search, plan, order: 'newest', cursor, limit: String(PER_PAGE) };
  const page = await api.ask(CustomerPage, 'GET /admin/v1/customers', { query: asked });
  return {
    content: (
      <>
        {api.may('POST /admin/v1/customers') && (
          <LinkButton href={`${CUSTOMERS}/new`} kind="main">
            Create a customer
          </LinkButton>
        )}
        <SearchForm action={CUSTOMERS}>
          <TextField name="search" label="Name, ID or reference" type="search" value={search} />
          <SelectField name="plan" label="Plan" none="any" choices={parts.registry.openPlans} value={plan} />
        </SearchForm>
        <Table
          caption="Customers, newest first"
          empty="No matches."
          rows={page.customers}
          columns={[
            { head: 'Name', cell: ({ id, name }) => <a href={pathOf('/customers', id)}>{name === '' ? id : name}</a> },
            { head: 'Reference', cell: ({ reference }) => reference },
            { head: 'State', cell: ({ status }) => <State state={status} /> },
            { head: 'Plan', cell: ({ plan }) => plan },
            { head: 'Created', cell: ({ created }) => <Moment at={created} /> },
            { head: 'ID', cell: ({ id }) => <code>{id}</code> },
          ]}
        />
        <Pager path={CUSTOMERS} query={{ search, plan }} cursor={cursor} next={page.cursor} />
      </>
    ),
  };
}
