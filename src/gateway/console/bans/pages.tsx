import { AddressBanPage, BanPage } from '../../actions/schemas.js';
import { Moment } from '../../pages/components/moment.js';
import { Pager } from '../../pages/components/pager.js';
import { Table } from '../../pages/components/table.js';
import { ActionForm } from '../forms/offered.js';
import { Outcome } from '../forms/pages.js';
import { CONSOLE, page, pathOf, type Page, type Visit } from '../visit/page.js';

const BANS = `${CONSOLE}/bans`;
const KEYS = '/admin/v1/bans';
const ADDRESSES = '/admin/v1/bans/addresses';
const PER_PAGE = '50';

export const BAN_PAGES: readonly Page[] = [
  page('GET /bans', `GET ${KEYS}`, 'Bans', {
    menu: 'Bans',
    serve: showBans,
  }),
];

export async function showBans(visit: Visit) {
  return {
    content: (
      <>
        <Outcome visit={visit} />
        {await bansOfKeys(visit)}
        {await bansOfAddresses(visit)}
      </>
    ),
  };
}

async function bansOfKeys(visit: Visit) {
  const { api, query } = visit;
  const cursor = query.given('cursor');
  const page = await api.ask(BanPage, `GET ${KEYS}`, { query: { cursor, limit: PER_PAGE } });
  return (
    <section>
      <h2>Keys</h2>
      <Table
        caption="Bans of keys in force"
        empty="No bans in force."
        rows={page.bans}
        columns={[
          { head: 'Key', cell: ({ key }) => <a href={pathOf('/keys', key)}>{key}</a> },
          { head: 'Until', cell: ({ until }) => <Moment at={until} /> },
          { head: 'Level', number: true, cell: ({ level }) => level },
          { head: 'Why', cell: ({ reason }) => reason },
          { head: 'By', cell: ({ by }) => by },
          { head: 'Lift', cell: ({ key }) => <ActionForm name="lifted" visit={visit} row={key} /> },
        ]}
      />
      <Pager path={BANS} query={{}} cursor={cursor} next={page.cursor} />
      <ActionForm name="banned" visit={visit} />
    </section>
  );
}

/** Null if the visitor may not see addresses. */
async function bansOfAddresses(visit: Visit) {
  const { api, query } = visit;
  if (!api.may(`GET ${ADDRESSES}`)) return null;
  const cursor = query.given('addresses');
  const page = await api.ask(AddressBanPage, `GET ${ADDRESSES}`, { query: { cursor, limit: PER_PAGE } });
  return (
    <section>
      <h2>Addresses</h2>
      <Table
        caption="Bans of addresses in force, for requests without a valid key"
        empty="No bans in force."
        rows={page.bans}
        columns={[
          { head: 'Address', cell: ({ address }) => <code>{address}</code> },
          { head: 'Until', cell: ({ until }) => <Moment at={until} /> },
          { head: 'Level', number: true, cell: ({ level }) => level },
          {
            head: 'Lift',
            cell: ({ address }) => <ActionForm name="addresses/lifted" visit={visit} row={address} />,
          },
        ]}
      />
      <Pager path={BANS} query={{}} cursor={cursor} next={page.cursor} name="addresses" label="Pages of addresses" />
    </section>
  );
}
