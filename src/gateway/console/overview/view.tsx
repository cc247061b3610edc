import type { Readiness } from '../../observe/health.js';
import { Badge, Notice } from '../../pages/components/notice.js';
import { Table } from '../../pages/components/table.js';
import { AUDIT, Changes, type Change } from '../audit/pages.js';
import type { History, Range } from '../figures/history.js';
import { ofUpstream, type Point } from '../figures/point.js';
import type { Span } from '../figures/window.js';
import { runbookPath } from '../runbooks/pages.js';
import { Figures, State } from './figures.js';
import { NearLimitTable, type NearLimit } from './near-limit.js';
import { TopRefused, type Refused } from './top-refused.js';
import { Ranges, Series, Upstreams } from './series.js';
import { troublesOf } from './troubles.js';
import { upstreamState } from './upstream-state.js';

interface OverviewParts {
  readonly readiness: Readiness;
  readonly span: Span;
  readonly history: History;
  readonly points: readonly Point[];
  readonly range: Range;
  /** The only one that the figures and plots are about; undefined for all requests. */
  readonly upstream: string | undefined;
  /** Null if the visitor may not see keys. */
  readonly near: NearLimit | null;
  readonly refused: Refused | null;
  /** Null if the visitor may not see them. */
  readonly changes: readonly Change[] | null;
}

export function Overview({ span, history, points: all, range, upstream, ...parts }: OverviewParts) {
  const { readiness, refused, near, changes } = parts;
  const nowMs = span.to.atMs;
  const points = upstream === undefined ? all : all.map((point) => ofUpstream(point, upstream));
  return (
    <>
      <Troubles {...{ span, history }} />
      <h2>{`The last ${range}${upstream === undefined ? '' : `, upstream “${upstream}”`}`}</h2>
      <Ranges {...{ range, upstream }} />
      <Figures {...{ points, range, nowMs, upstream }} />
      <Series {...{ points, range, upstream }} />
      {refused !== null && <TopRefused {...refused} />}
      {near !== null && <NearLimitTable {...near} />}
      <Upstreams {...{ history, points: all, range, nowMs }} />
      <Parts {...{ readiness, span, history }} />
      {changes !== null && <LastChanges changes={changes} />}
    </>
  );
}

function LastChanges({ changes }: { readonly changes: readonly Change[] }) {
  return (
    <>
      <h2>Last changes</h2>
      <Changes changes={changes} caption="The last ten changes" />
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
    <Notice
      level="warn"
      more={
        <ul>
          {troubles.map(({ runbook, says }) => (
            <li>
              {`${says} `}
              <a href={runbookPath(runbook)}>{runbook}</a>
            </li>
          ))}
        </ul>
      }
    >
      Something is wrong, and a runbook says what to do:
    </Notice>
  );
}

/** Takes the upstreams from the metrics: with workers, this process has no upstreams of its own. */
function partsOf({ parts }: Readiness, { to }: Span, history: History): Readiness['parts'] {
  const checked = to.by('petgate_upstream_checked_ratio', 'upstream');
  const upstreams = [...to.by('petgate_upstream_up_ratio', 'upstream')].map(([name, ratio]) => {
    const detail = checked.get(name) === 0 ? 'not checked yet' : upstreamState(history, name, to.atMs);
    return [`upstream:${name}`, { ok: parts[`upstream:${name}`]?.ok !== false && ratio > 0, detail }] as const;
  });
  return { ...parts, ...Object.fromEntries(upstreams) };
}

function Parts({ readiness, span, history }: Pick<OverviewParts, 'readiness' | 'span' | 'history'>) {
  return (
    <>
      <h2>This gateway</h2>
      <State span={span} />
      <Table
        caption="Whether this gateway can serve, part by part"
        empty="Nothing is known yet."
        rows={Object.entries(partsOf(readiness, span, history))}
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
