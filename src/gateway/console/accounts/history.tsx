import type { z } from 'zod';
import { changesText } from '../../../shared/text/readable.js';
import type { History } from '../../actions/schemas.js';
import { Moment } from '../../pages/components/moment.js';
import { Table } from '../../pages/components/table.js';

/** Shows who changed what, newest first. @param history oldest first */
export function HistoryTable({ history }: z.output<typeof History>) {
  return (
    <Table
      caption="Who changed what, from what, to what"
      empty="Nothing is known."
      rows={history.toReversed()}
      columns={[
        { head: 'When', cell: ({ at }) => <Moment at={at} /> },
        { head: 'Who', cell: ({ actor }) => actor ?? '' },
        { head: 'What', cell: ({ action }) => action },
        { head: 'Change', cell: ({ changed }) => changesText(changed) },
      ]}
    />
  );
}
