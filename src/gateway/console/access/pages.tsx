import { TokenList } from '../../actions/schemas.js';
import { PostForm } from '../../pages/components/form.js';
import { Moment } from '../../pages/components/moment.js';
import { Badge } from '../../pages/components/notice.js';
import { Table } from '../../pages/components/table.js';
import { ActionForm } from '../forms/offered.js';
import { Outcome } from '../forms/pages.js';
import { CONSOLE, page, type Page, type Visit } from '../visit/page.js';
import { SIGN_IN } from '../visit/sign-in.js';

const TOKENS = '/admin/v1/tokens';
const END_SESSIONS = 'DELETE /admin/v1/sessions';

export const ACCESS_PAGES: readonly Page[] = [
  page('GET /access', `GET ${TOKENS}`, 'Access', {
    menu: 'Access',
    serve: showAccess,
  }),
  page('POST /access/sessions/ended', END_SESSIONS, 'End all sessions', {
    serve: async ({ api }) => {
      await api.answer(END_SESSIONS);
      return { to: SIGN_IN, session: '' };
    },
  }),
];

export async function showAccess(visit: Visit) {
  const { tokens } = await visit.api.ask(TokenList, `GET ${TOKENS}`);
  const content = (
    <>
      <Outcome visit={visit} />
      <h2>Admin tokens</h2>
      <p>The operator’s own token comes from the environment or the data folder, and is not listed.</p>
      <Table
        caption="Admin tokens"
        empty="No admin tokens."
        rows={tokens}
        columns={[
          { head: 'Name', cell: ({ name }) => name },
          { head: 'Role', cell: ({ role }) => role },
          {
            head: 'State',
            cell: ({ state }) => (
              <Badge level={state === 'good' ? 'good' : 'warn'}>{state === 'good' ? 'valid' : state}</Badge>
            ),
          },
          { head: 'Created', cell: ({ created }) => <Moment at={created} /> },
          { head: 'By', cell: ({ by }) => by },
          { head: 'Expires', cell: ({ expires }) => (expires === null ? 'never' : <Moment at={expires} />) },
          { head: 'ID', cell: ({ id }) => <code>{id}</code> },
          {
            head: 'Revoke',
            cell: ({ id, name }) => <ActionForm name="revoked" visit={visit} row={id} label={`Revoke ${name}`} />,
          },
        ]}
      />
      <ActionForm name="created" visit={visit} />
      <Sessions visit={visit} />
    </>
  );
  return { content };
}

function Sessions({ visit: { guard } }: { readonly visit: Visit }) {
  return (
    <section>
      <h2>Sessions</h2>
      <p>
        Ends every session of this console and of account pages, on all gateways, including yours: for when a cookie or
        a copy of the store may be in the wrong hands. Revoking a token ends its sessions only.
      </p>
      <PostForm
        action={`${CONSOLE}/access/sessions/ended`}
        guard={guard()}
        button="End all sessions"
        kind="danger"
        inline
      />
    </section>
  );
}
