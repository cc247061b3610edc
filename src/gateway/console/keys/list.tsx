import type { z } from 'zod';
import { isKeyId } from '../../accounts/token.js';
import { KeyPage, KeyWindows } from '../../actions/schemas.js';
import { SearchForm, SelectField, TextField } from '../../pages/components/form.js';
import { LinkButton } from '../../pages/components/links.js';
import { Moment } from '../../pages/components/moment.js';
import { Pager } from '../../pages/components/pager.js';
import { Table } from '../../pages/components/table.js';
import { customerNames } from '../accounts/customer-names.js';
import { State } from '../accounts/state.js';
import { CONSOLE, pathOf, type PageAnswer, type Visit } from '../visit/page.js';
import { Fullest } from './windows.js';

const KEYS = `${CONSOLE}/keys`;
const STATUSES = ['enabled', 'disabled', 'revoked'];
const USED = [
  { value: '80', label: '80 % of a window' },
  { value: '100', label: 'all of a window' },
];
const PER_PAGE = 50;

/** A key with what a list shows next to it. */
export interface Line {
  readonly key: z.output<typeof KeyPage>['keys'][number];
  readonly customerName: string;
  readonly standing: z.output<typeof KeyWindows> | null;
}

/** Lists keys, newest first. A search for an ID redirects to that key. */
export async function listKeys(visit: Visit): Promise<PageAnswer> {
  const { api, query } = visit;
  const search = query.given('search');
  if (search !== undefined && isKeyId(search)) return { to: pathOf('/keys', search) };
  const filter = {
    search,
    plan: query.given('plan'),
    status: query.given('status'),
    customer: query.given('customer'),
    used: query.given('used'),
  };
  const cursor = query.given('cursor');
  const asked = { ...filter, cursor, order: 'newest', limit: String(PER_PAGE) };
  const page = await api.ask(KeyPage, 'GET /admin/v1/keys', { query: asked });
  return {
    content: (
      <>
        {api.may('POST /admin/v1/keys') && (
          <LinkButton href={`${KEYS}/new`} kind="main">
            Create a key
          </LinkButton>
        )}
        <Filter visit={visit} />
        <Keys lines={await linesOf(visit, page.keys)} />
        <Pager path={KEYS} query={filter} cursor={cursor} next={page.cursor} />
      </>
    ),
  };
}

function Keys({ lines }: { readonly lines: readonly Line[] }) {
  return (
    <Table
      caption="Keys, newest first"
      empty="No matches."
      rows={lines}
      columns={[
        KEY,
        { head: 'State', cell: ({ key }) => <State state={key.state} /> },
        PLAN,
        CUSTOMER,
        FULLEST,
        { head: 'Last use', cell: ({ standing }) => standing?.used },
        { head: 'Created', cell: ({ key }) => <Moment at={key.created} /> },
        { head: 'Expires', cell: ({ key: { expires } }) => expires !== null && <Moment at={expires} /> },
        { head: 'ID', cell: ({ key }) => <code>{key.id}</code> },
      ]}
    />
  );
}

/** Columns of a table of keys. */
export const KEY = {
  head: 'Key',
  cell: ({ key: { id, name } }: Line) => <a href={pathOf('/keys', id)}>{name === '' ? id : name}</a>,
};
export const PLAN = { head: 'Plan', cell: ({ key }: Line) => key.plan };
export const CUSTOMER = {
  head: 'Customer',
  cell: ({ key: { customer }, customerName }: Line) =>
    customer && <a href={pathOf('/customers', customer)}>{customerName}</a>,
};
export const FULLEST = {
  head: 'Fullest window',
  cell: ({ standing }: Line) => standing && <Fullest windows={standing.windows} />,
};

/** Adds the customer's name and the windows to each key, as far as they can be read. */
export async function linesOf({ api }: Visit, keys: readonly Line['key'][]): Promise<readonly Line[]> {
  const names = await customerNames(
    api,
    keys.map(({ customer }) => customer),
  );
  return Promise.all(
    keys.map(async (key) => ({
      key,
      customerName: names.get(key.customer) ?? '',
      standing: await api.ask(KeyWindows, 'GET /admin/v1/keys/{id}/windows', { id: key.id }).catch(() => null),
    })),
  );
}

function Filter({ visit: { query, parts } }: { readonly visit: Visit }) {
  const { openPlans } = parts.registry;
  return (
    <SearchForm action={KEYS}>
      <TextField name="search" label="Name, ID or customer" type="search" value={query.text('search')} />
      <SelectField name="plan" label="Plan" none="any" choices={openPlans} value={query.text('plan')} />
      <SelectField name="status" label="Status" none="any" choices={STATUSES} value={query.text('status')} />
      <SelectField name="used" label="Used" none="any share" choices={USED} value={query.text('used')} />
      <TextField name="customer" label="Customer ID" value={query.text('customer')} />
    </SearchForm>
  );
}
