import { Badge } from '../../pages/components/notice.js';
import { Table } from '../../pages/components/table.js';
import type { KeyRecord } from '../../store/records/key.js';
import { Moment } from '../../pages/components/moment.js';
import type { HeldCustomer } from './read.js';

export function Customer({ customer, own }: { readonly customer: HeldCustomer; readonly own: string }) {
  const { name, keys, hasMore } = customer;
  return (
    <section>
      <h2>
        Keys of <bdi>{name}</bdi>
      </h2>
      <Table<KeyRecord>
        caption="All share the limits above"
        empty="No keys."
        rows={keys}
        columns={[
          { head: 'Name', cell: (key) => key.name || '–' },
          { head: 'Key ID', cell: ({ id }) => <code>{id}</code> },
          { head: 'State', cell: (key) => <State record={key} own={own} /> },
          { head: 'Created', cell: ({ createdAtMs }) => <Moment at={createdAtMs} /> },
        ]}
      />
      {hasMore && <p class="hint">There are more, which are not shown here.</p>}
    </section>
  );
}

function State({ record: { id, status, expiresAtMs }, own }: { readonly record: KeyRecord; readonly own: string }) {
  if (id === own) return <Badge level="good">this key</Badge>;
  if (status !== 'enabled') return <Badge level="warn">{status}</Badge>;
  if (expiresAtMs === null) return <>enabled</>;
  return (
    <>
      until <Moment at={expiresAtMs} />
    </>
  );
}
