import { AddressBanPage, BanPage } from '../../actions/schemas.js';
import { PostForm, sentWith, TextField } from '../../pages/components/form.js';
import { Moment } from '../../pages/components/moment.js';
import { Pager } from '../../pages/components/pager.js';
import { Table } from '../../pages/components/table.js';
import { pathOf } from '../accounts/account.js';
import { BAN_FIELD, BanForm, banIn } from '../accounts/ban-form.js';
import { Outcome } from '../accounts/outcome.js';
import { problemsOf } from '../api.js';
import { CONSOLE, page, type Page, type PageAnswer, type Visit } from '../page.js';

const BANS = `${CONSOLE}/bans`;
const KEYS = '/admin/v1/bans';
const ADDRESSES = '/admin/v1/bans/addresses';
const PER_PAGE = '50';

/** Bans of keys and of addresses that are in force. */
export const BAN_PAGES: readonly Page[] = [
  page('GET /bans', `GET ${KEYS}`, 'Bans', {
    menu: 'Bans',
    serve: async (visit) => ({ content: await bans(visit, []) }),
  }),
  page('POST /bans/started', `PUT ${KEYS}/{id}`, 'Ban a key', {
    serve: (visit) => done(visit, 'banned', `PUT ${KEYS}/{id}`, banIn(visit.form)),
  }),
  page('POST /bans/lifted', `DELETE ${KEYS}/{id}`, 'Lift a ban', {
    serve: (visit) => done(visit, 'lifted', `DELETE ${KEYS}/{id}`),
  }),
  page('POST /bans/addresses/lifted', `DELETE ${ADDRESSES}/{id}`, 'Lift the ban of an address', {
    serve: (visit) => done(visit, 'lifted', `DELETE ${ADDRESSES}/{id}`),
  }),
];

async function done(visit: Visit, outcome: string, line: string, body = {}): Promise<PageAnswer> {
  try {
    await visit.api.answer(line, { id: visit.form.text('id').trim(), body });
    return { to: `${BANS}?done=${outcome}` };
  } catch (error) {
    return { content: await bans(visit, problemsOf(error)), status: 400 };
  }
}

async function bans(visit: Visit, problems: readonly string[]) {
  return (
    <>
      <Outcome visit={visit} problems={problems} />
      {await bansOfKeys(visit, problems)}
      {await bansOfAddresses(visit)}
    </>
  );
}

async function bansOfKeys({ api, query, form, guard }: Visit, problems: readonly string[]) {
  const cursor = query.given('cursor');
  const sent = sentWith(BAN_FIELD, form, problems);
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
          {
            head: 'Lift',
            cell: ({ key }) =>
              api.may(`DELETE ${KEYS}/{id}`) && (
                <PostForm action={`${BANS}/lifted`} guard={guard()} button="Lift" inline>
                  <input type="hidden" name="id" value={key} />
                </PostForm>
              ),
          },
        ]}
      />
      <Pager path={BANS} query={{}} cursor={cursor} next={page.cursor} />
      {api.may(`PUT ${KEYS}/{id}`) && (
        <BanForm action={`${BANS}/started`} guard={guard()} sent={sent} summary="Ban a key">
          <TextField name="id" label="Key ID" required sent={sent} />
        </BanForm>
      )}
    </section>
  );
}

/** Null for those who may not see addresses. */
async function bansOfAddresses({ api, query, guard }: Visit) {
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
            cell: ({ address }) => (
              <PostForm action={`${BANS}/addresses/lifted`} guard={guard()} button="Lift" inline>
                <input type="hidden" name="id" value={address} />
              </PostForm>
            ),
          },
        ]}
      />
      <Pager path={BANS} query={{}} cursor={cursor} next={page.cursor} name="addresses" label="Pages of addresses" />
    </section>
  );
}
