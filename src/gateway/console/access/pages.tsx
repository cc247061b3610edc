import { IssuedToken, TokenList } from '../../actions/schemas.js';
import { ROLES } from '../../store/records/admin-token.js';
import { PostForm, SelectField, sentWith, TextField } from '../../pages/components/form.js';
import { Moment } from '../../pages/components/moment.js';
import { Badge } from '../../pages/components/notice.js';
import { Table } from '../../pages/components/table.js';
import { Outcome } from '../accounts/outcome.js';
import { ShownOnce } from '../accounts/shown-once.js';
import { problemsOf } from '../api.js';
import { CONSOLE, page, type Page, type PageAnswer, type Visit } from '../page.js';
import { SIGN_IN } from '../sign-in/pages.js';

const ACCESS = `${CONSOLE}/access`;
const TOKENS = '/admin/v1/tokens';
const END_SESSIONS = 'DELETE /admin/v1/sessions';

/** Who has access: admin tokens, and the sessions opened with them. */
export const ACCESS_PAGES: readonly Page[] = [
  page('GET /access', `GET ${TOKENS}`, 'Access', {
    menu: 'Access',
    serve: async (visit) => ({ content: await access(visit, []) }),
  }),
  page('POST /access/created', `POST ${TOKENS}`, 'Create an admin token', { serve: create }),
  page('POST /access/revoked', `DELETE ${TOKENS}/{id}`, 'Revoke an admin token', {
    serve: async (visit) => {
      try {
        await visit.api.answer(`DELETE ${TOKENS}/{id}`, { id: visit.form.text('id') });
        return { to: `${ACCESS}?done=revoked` };
      } catch (error) {
        return { content: await access(visit, problemsOf(error)), status: 400 };
      }
    },
  }),
  page('POST /access/sessions/ended', END_SESSIONS, 'End all sessions', {
    serve: async ({ api }) => {
      await api.answer(END_SESSIONS);
      return { to: SIGN_IN, session: '' };
    },
  }),
];

async function create(visit: Visit): Promise<PageAnswer> {
  const { api, form } = visit;
  const expires = form.given('expires');
  const body = {
    name: form.text('name').trim(),
    role: form.text('role'),
    ...(expires === undefined ? {} : { expires }),
  };
  try {
    const { token } = await api.ask(IssuedToken, `POST ${TOKENS}`, { body });
    return { title: 'Admin token created', content: <ShownOnce secret={token} href={ACCESS} link="Access" /> };
  } catch (error) {
    return { content: await access(visit, problemsOf(error)), status: 400 };
  }
}

async function access(visit: Visit, problems: readonly string[]) {
  const { api, guard } = visit;
  const { tokens } = await api.ask(TokenList, `GET ${TOKENS}`);
  return (
    <>
      <Outcome visit={visit} problems={problems} />
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
            cell: ({ id, name }) => (
              <details>
                <summary aria-label={`Revoke ${name}`}>Revoke</summary>
                <PostForm action={`${ACCESS}/revoked`} guard={guard()} button="Revoke now" kind="danger" inline>
                  <input type="hidden" name="id" value={id} />
                </PostForm>
              </details>
            ),
          },
        ]}
      />
      <NewToken visit={visit} problems={problems} />
      <Sessions visit={visit} />
    </>
  );
}

function NewToken({
  visit: { form, guard },
  problems,
}: {
  readonly visit: Visit;
  readonly problems: readonly string[];
}) {
  const sent = sentWith('role', form, problems);
  return (
    <details open={sent !== undefined}>
      <summary>Create an admin token</summary>
      <PostForm action={`${ACCESS}/created`} guard={guard()} button="Create" kind="main">
        <TextField name="name" label="Name" required maxlength={100} sent={sent} />
        <SelectField name="role" label="Role" choices={ROLES.map((value) => ({ value, label: value }))} sent={sent} />
        <TextField name="expires" label="Expires (UTC)" hint="Such as 2027-01-31; empty for never." sent={sent} />
      </PostForm>
    </details>
  );
}

function Sessions({ visit: { guard } }: { readonly visit: Visit }) {
  return (
    <section>
      <h2>Sessions</h2>
      <p>
        Ends every session of this console and of account pages, on all gateways, including yours: for when a cookie or
        a copy of the store may be in the wrong hands. Revoking a token ends its sessions only.
      </p>
      <PostForm action={`${ACCESS}/sessions/ended`} guard={guard()} button="End all sessions" kind="danger" inline />
    </section>
  );
}
