import type { z } from 'zod';
import { AuditList } from '../../actions/schemas.js';
import { SearchForm, TextField } from '../../pages/components/form.js';
import { Moment } from '../../pages/components/moment.js';
import { addressOf } from '../../pages/components/pager.js';
import { Table } from '../../pages/components/table.js';
import { OtherGateways } from '../visit/other-gateways.js';
import { CONSOLE, page, pathOf, type Page } from '../visit/page.js';

export const READ_AUDIT = 'GET /admin/v1/audit';
export const AUDIT = `${CONSOLE}/audit`;
const SHOWN = '200';

export type Change = z.output<typeof AuditList>['changes'][number];

export const AUDIT_PAGES: readonly Page[] = [
  page('GET /audit', READ_AUDIT, 'Audit', {
    menu: 'Audit',
    serve: async ({ api, query }) => {
      const search = query.given('search');
      const audit = await api.ask(AuditList, READ_AUDIT, { query: { search, limit: SHOWN } });
      return { content: <AuditView {...audit} search={search} /> };
    },
  }),
];

function AuditView({
  changes,
  refused,
  gateways,
  search,
}: z.output<typeof AuditList> & { search: string | undefined }) {
  return (
    <>
      <SearchForm action={AUDIT}>
        <TextField name="search" label="Actor, action, kind or ID" type="search" value={search} />
      </SearchForm>
      <Changes changes={changes} caption={`Changes, newest first, ${SHOWN} at most`} />
      <h2>Wrong admin tokens</h2>
      <Table
        caption="Sign-ins and requests with a wrong admin token at this gateway, newest first"
        empty="None."
        rows={refused}
        columns={[
          { head: 'When', cell: ({ at }) => <Moment at={at} /> },
          { head: 'Address', cell: ({ address }) => address },
        ]}
      />
      <OtherGateways gateways={gateways} />
    </>
  );
}

export function Changes({ changes, caption }: { readonly changes: readonly Change[]; readonly caption: string }) {
  return (
    <Table
      caption={caption}
      empty="No matches."
      rows={changes}
      columns={[
        { head: 'When', cell: ({ at }) => <Moment at={at} /> },
        { head: 'Who', cell: ({ actor }) => <a href={addressOf(AUDIT, { search: actor })}>{actor}</a> },
        { head: 'What', cell: ({ action }) => action },
        { head: 'Record', cell: recordOf },
        { head: 'Status', number: true, cell: ({ status }) => status },
      ]}
    />
  );
}

function recordOf({ kind, id }: Change) {
  if (kind === null || id === null) return '';
  if (kind === 'token') return <code>{id}</code>;
  return <a href={pathOf(kind === 'key' ? '/keys' : '/customers', id)}>{`${kind} ${id}`}</a>;
}
