import type { z } from 'zod';
import type { ExchangeList } from '../../actions/schemas.js';
import { Moment } from '../../pages/components/moment.js';
import { Table } from '../../pages/components/table.js';

/** Lists the other gateways: each remembers only its own requests. */
export function OtherGateways({ gateways }: Pick<z.output<typeof ExchangeList>, 'gateways'>) {
  if (gateways === null) return <p class="soft">The store does not say which other gateways there are.</p>;
  if (gateways.length === 0) return null;
  return (
    <Table
      caption="Other gateways, each with a memory of its own: ask there too"
      empty=""
      rows={gateways}
      columns={[
        { head: 'Gateway', cell: ({ gateway }) => gateway },
        { head: 'Host', cell: ({ host }) => host },
        { head: 'Last seen', cell: ({ seen }) => <Moment at={seen} /> },
      ]}
    />
  );
}
