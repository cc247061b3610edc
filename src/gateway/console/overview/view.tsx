import type { Readiness } from '../../health.js';
import { Badge } from '../../pages/components/notice.js';
import { Table } from '../../pages/components/table.js';

export function Overview({ readiness }: { readonly readiness: Readiness }) {
  return (
    <Table
      caption="Whether this gateway can serve, part by part"
      empty="Nothing is known yet."
      rows={Object.entries(readiness.parts)}
      columns={[
        { head: 'Part', cell: ([name]) => name },
        {
          head: 'State',
          cell: ([, { ok, degraded }]) => (
            <Badge level={!ok ? 'danger' : degraded === true ? 'warn' : 'good'}>
              {!ok ? 'not ready' : degraded === true ? 'degraded' : 'ready'}
            </Badge>
          ),
        },
        { head: 'Detail', cell: ([, { detail }]) => detail },
      ]}
    />
  );
}
