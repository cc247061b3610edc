import { alike } from '../../observe/recent/alike.js';
import { Table } from '../../pages/components/table.js';
import type { RecentExchange } from '../../observe/recent/exchange.js';
import type { Recalled } from '../../observe/recent/recall.js';
import { Moment } from '../../pages/components/moment.js';

const CAPTION = 'As far as this gateway remembers them, the latest first';

/** Recent requests with the key that were refused or failed, and why. */
export function Refusals({ exchanges, silent }: Recalled) {
  return (
    <section>
      <h2>Refused and failed lately</h2>
      <Table
        caption={CAPTION}
        empty="None that this gateway remembers."
        rows={alike(exchanges)}
        columns={[
          { head: 'Response', cell: ([{ status, code }]) => `${status} ${code ?? 'of the API itself'}` },
          { head: 'Operation', cell: ([{ operation }]) => <code>{operation}</code> },
          { head: 'Times', number: true, cell: (all) => all.length },
          { head: 'What to do', cell: ([exchange]) => adviceFor(exchange) },
          { head: 'Last', cell: ([{ endedMs }]) => <Moment at={endedMs} /> },
          { head: 'Last request', cell: ([{ id }]) => <code>{id}</code> },
        ]}
      />
      {silent > 0 && <p class="hint">A part of the gateway did not respond in time and may have more.</p>}
    </section>
  );
}

function adviceFor({ refusal, status }: RecentExchange): string {
  if (refusal !== null) return (JSON.parse(refusal) as { readonly message: string }).message;
  return status < 500 ? 'Its body says what was wrong with the request.' : 'Try again later.';
}
