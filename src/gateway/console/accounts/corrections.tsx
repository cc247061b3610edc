import { CorrectionPage } from '../../actions/schemas.js';
import { fullNumber } from '../../pages/components/figure.js';
import { Moment } from '../../pages/components/moment.js';
import { Table } from '../../pages/components/table.js';
import type { Visit } from '../visit/page.js';
import { ActionForm } from '../forms/offered.js';

const LIST = 'GET /admin/v1/usage/corrections';

/** Shows the corrections of a key's or customer's usage; null if the visitor may not see them. */
export async function correctionsPart(subject: 'key' | 'customer', visit: Visit) {
  const { api, id } = visit;
  if (!api.may(LIST)) return null;
  const { corrections, cursor } = await api.ask(CorrectionPage, LIST, { query: { [subject]: id } });
  return (
    <>
      <Table
        caption="Added to what was counted, which stays as it is"
        empty="None."
        rows={corrections}
        columns={[
          { head: 'Day', cell: ({ day }) => day },
          { head: 'Of', cell: ({ key, customer }) => <code>{key ?? customer}</code> },
          { head: 'Plan', cell: ({ plan }) => plan },
          { head: 'Units', number: true, cell: ({ units }) => fullNumber(units) },
          { head: 'Requests', number: true, cell: ({ requests }) => fullNumber(requests) },
          { head: 'Reason', cell: ({ reason }) => reason },
          { head: 'By', cell: ({ by }) => by },
          { head: 'When', cell: ({ at }) => <Moment at={at} /> },
        ]}
      />
      {cursor !== null && <p class="hint">There are more: petgate usage corrections.</p>}
      <ActionForm name="corrected" visit={visit} />
    </>
  );
}
