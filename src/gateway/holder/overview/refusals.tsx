import { Table } from '../../pages/components/table.js';
import type { RecentExchange } from '../../observe/recent/exchange.js';
import type { Recalled } from '../../observe/recent/recall.js';
import { Moment } from '../../pages/components/moment.js';

const CAPTION = 'As far as this gateway remembers them, the last first';

/** Recent requests with the key that were refused or failed, and why. */
export function Refusals({ exchanges, silent }: Recalled) {
  return (
    <section>
      <h2>Refused and failed lately</h2>
      <Table<RecentExchange>
        caption={CAPTION}
        empty="None that this gateway remembers."
        rows={exchanges}
        columns={[
          { head: 'When', cell: ({ endedMs }) => <Moment at={endedMs} /> },
          { head: 'Operation', cell: ({ operation }) => <code>{operation}</code> },
          { head: 'Status', number: true, cell: ({ status }) => status },
          {
            head: 'Why',
            cell: ({ code, refusal }) => (code === null ? 'as the API answered' : (messageIn(refusal) ?? code)),
          },
          { head: 'Request', cell: ({ id }) => <code>{id}</code> },
        ]}
      />
      {silent > 0 && <p class="hint">A part of the gateway did not respond in time and may have more.</p>}
    </section>
  );
}

function messageIn(refusal: string | null): string | null {
  return refusal === null ? null : (JSON.parse(refusal) as { readonly message: string }).message;
}
