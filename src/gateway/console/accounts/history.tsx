import type { z } from 'zod';
import type { History } from '../../admin/openapi/schemas.js';
import { Moment } from '../../pages/components/moment.js';
import { Table } from '../../pages/components/table.js';

/** Who changed what, the last first. */
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
        { head: 'Change', cell: ({ changed }) => changesOf(changed) },
      ]}
    />
  );
}

/** `plan: free → pro; name: Shop` */
function changesOf(changed: Readonly<Record<string, unknown>>): string {
  return Object.entries(changed)
    .map(([name, value]) => `${name}: ${isStep(value) ? `${textOf(value.from)} → ${textOf(value.to)}` : textOf(value)}`)
    .join('; ');
}

function isStep(value: unknown): value is { readonly from: unknown; readonly to: unknown } {
  return typeof value === 'object' && value !== null && 'from' in value && 'to' in value;
}

function textOf(value: unknown): string {
  if (value === null || value === '') return 'none';
  return typeof value === 'string' ? value : JSON.stringify(value);
}
