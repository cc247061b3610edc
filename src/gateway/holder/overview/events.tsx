import { spaced } from '../../pages/components/figure.js';
import { Table } from '../../pages/components/table.js';
import type { AuditEntry } from '../../store/records/record.js';
import { Moment } from '../../pages/components/moment.js';

/** The fields of a change that the key holder may see; operators' notes on the key are not among them. */
const SHOWN: readonly string[] = ['plan', 'expires', 'status', 'scopes', 'oldSecretEnds', 'until'];

export function Events({ events }: { readonly events: readonly AuditEntry[] }) {
  return (
    <section>
      <h2>What happened to this key</h2>
      <Table<AuditEntry>
        caption="Newest first"
        empty="Nothing yet."
        rows={events}
        columns={[
          { head: 'When', cell: ({ atMs }) => <Moment at={atMs} /> },
          { head: 'What', cell: ({ action }) => action },
          { head: 'Details', cell: ({ changed }) => detailsOf(changed) || '–' },
        ]}
      />
    </section>
  );
}

function detailsOf(changed: AuditEntry['changed']): string {
  return Object.entries(changed)
    .filter(([name]) => SHOWN.includes(name))
    .map(([name, value]) => `${spaced(name)}: ${textOf(value)}`)
    .join('; ');
}

function textOf(value: unknown): string {
  if (value === null || value === undefined) return 'none';
  if (typeof value === 'object' && 'from' in value && 'to' in value)
    return `${textOf(value.from)} → ${textOf(value.to)}`;
  return typeof value === 'string' ? value : JSON.stringify(value);
}
