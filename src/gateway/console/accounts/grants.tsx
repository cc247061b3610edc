import type { z } from 'zod';
import type { Grant } from '../../actions/schemas.js';
import { Moment } from '../../pages/components/moment.js';
import { Table } from '../../pages/components/table.js';
import { fullNumber } from '../../pages/components/figure.js';
import type { Visit } from '../visit/page.js';
import { ActionForm } from '../forms/offered.js';

interface GrantsParts {
  readonly visit: Visit;
  readonly grants: readonly z.output<typeof Grant>[];
  /** Whether the key is revoked or the customer closed: it can get no more grants. */
  readonly ended: boolean;
}

/** Shows the grants in force, with the forms that add and withdraw them. */
export function Grants({ visit, grants, ended }: GrantsParts) {
  return (
    <>
      <Table
        caption="Units granted beyond the limits"
        empty="None in force."
        rows={grants}
        columns={[
          { head: 'Window', cell: ({ window }) => window },
          { head: 'Units', number: true, cell: ({ units }) => fullNumber(units) },
          { head: 'Until', cell: ({ until }) => <Moment at={until} /> },
          { head: 'Note', cell: ({ note }) => note },
          { head: 'By', cell: ({ by }) => by },
          {
            head: 'Withdraw',
            cell: ({ id }) => !ended && <ActionForm name="grants/{part}/withdrawn" visit={visit} row={String(id)} />,
          },
        ]}
      />
      {!ended && <ActionForm name="granted" visit={visit} />}
    </>
  );
}
