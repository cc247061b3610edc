import type { Readiness } from '../../observe/health.js';
import { Badge, Notice } from '../../pages/components/notice.js';
import { Table } from '../../pages/components/table.js';
import { AUDIT, Changes, type Change } from '../audit/pages.js';
import type { History, Range } from '../figures/history.js';
import type { Span } from '../figures/window.js';
import { runbookPath } from '../runbooks/pages.js';
import { Figures } from './figures.js';
import { TopRefused, type Refused } from './top-refused.js';
import { Series } from './series.js';
import { troublesOf } from './troubles.js';

interface OverviewParts {
  readonly readiness: Readiness;
  readonly span: Span;
  readonly history: History;
  readonly range: Range;
  readonly refused: Refused | null;
  /** Null if the visitor may not see them. */
  readonly changes: readonly Change[] | null;
}

export function Overview({ readiness, span, history, range, refused, changes }: OverviewParts) {
  return (
    <>
      <Troubles {...{ span, history }} />
      <Figures span={span} />
      <Series {...{ history, range }} nowMs={span.to.atMs} />
      {refused !== null && <TopRefused {...refused} />}
      <Plans span={span} />
      <Parts readiness={readiness} span={span} />
      {changes !== null && <LastChanges changes={changes} />}
    </>
  );
}

function LastChanges({ changes }: { readonly changes: readonly Change[] }) {
  return (
    <>
      <h2>Last changes</h2>
      <Changes changes={changes} caption="The last ten changes through this gateway" />
      <p>
        <a href={AUDIT}>All changes</a>
      </p>
    </>
  );
}

function Troubles({ span, history }: Pick<OverviewParts, 'span' | 'history'>) {
  const troubles = troublesOf(span, history);
  if (troubles.length === 0)
    return (
      <p>
        <Badge level="good">Nothing is wrong that this gateway can see</Badge>
      </p>
    );
  return (
    <Notice level="warn">
      <p>Something is wrong, and a runbook says what to do:</p>
      <ul>
        {troubles.map(({ runbook, says }) => (
          <li>
            {`${says} `}
            <a href={runbookPath(runbook)}>{runbook}</a>
          </li>
        ))}
      </ul>
    </Notice>
  );
}

function Plans({ span }: Pick<OverviewParts, 'span'>) {
  const [admitted, limited, banned] = ['admitted', 'limited', 'banned'].map((what) =>
    span.grownBy(`petgate_${what}_total`, 'plan'),
  ) as [ReadonlyMap<string, number>, ReadonlyMap<string, number>, ReadonlyMap<string, number>];
  const plans = [...new Set([...admitted.keys(), ...limited.keys(), ...banned.keys()])];
  return (
    <>
      <h2>Plans</h2>
      <Table
        caption="Requests of the last minute, by plan"
        empty="None yet."
        rows={plans}
        columns={[
          { head: 'Plan', cell: (plan) => plan },
          { head: 'Admitted', number: true, cell: (plan) => admitted.get(plan) ?? 0 },
          { head: '429 by a limit', number: true, cell: (plan) => limited.get(plan) ?? 0 },
          { head: '429 by a ban', number: true, cell: (plan) => banned.get(plan) ?? 0 },
        ]}
      />
    </>
  );
}

/** Takes the upstreams from the metrics: with workers, this process has no upstreams of its own. */
function partsOf({ parts }: Readiness, { to }: Span): Readiness['parts'] {
  const checked = to.by('petgate_upstream_checked_ratio', 'upstream');
  const upstreams = [...to.by('petgate_upstream_up_ratio', 'upstream')].map(([name, ratio]) => {
    const detail = checked.get(name) === 0 ? 'not checked yet' : `${Math.round(100 * ratio)} % of its addresses up`;
    return [`upstream:${name}`, { ok: parts[`upstream:${name}`]?.ok !== false && ratio > 0, detail }] as const;
  });
  return { ...parts, ...Object.fromEntries(upstreams) };
}

function Parts({ readiness, span }: Pick<OverviewParts, 'readiness' | 'span'>) {
  return (
    <>
      <h2>Parts</h2>
      <Table
        caption="Whether this gateway can serve, part by part"
        empty="Nothing is known yet."
        rows={Object.entries(partsOf(readiness, span))}
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
    </>
  );
}
