import { BarPlot } from '../../pages/components/plot.js';
import { Table } from '../../pages/components/table.js';
import { quantileOf } from '../figures/buckets.js';
import { RANGES, type History, type Range } from '../figures/history.js';
import { merged, type Point } from '../figures/point.js';
import { CONSOLE } from '../page.js';
import { clockTime } from './clock-time.js';
import { duration, percent } from './figures.js';

interface SeriesParts {
  readonly history: History;
  readonly range: Range;
  readonly nowMs: number;
}

/** Returns the requested range; the shortest if the text is not a range. */
export function rangeOf(text: string | undefined): Range {
  return text !== undefined && Object.hasOwn(RANGES, text) ? (text as Range) : '15 min';
}

/** Plots traffic, failures and latency over time, and lists the upstreams. */
export function Series({ history, range, nowMs }: SeriesParts) {
  const points = history.points(range, nowMs);
  const label = (atMs: number): string => new Date(atMs).toISOString().slice(...labelPart(range));
  const lines = (of: (point: Point) => readonly (readonly [string, number | null])[]) =>
    points.map((point) => ({
      label: label(point.atMs),
      parts: new Map(of(point).filter((one): one is readonly [string, number] => one[1] !== null)),
    }));
  return (
    <>
      <h2>{`The last ${range}`}</h2>
      <Ranges now={range} />
      <BarPlot
        label="Requests by status class"
        axis="From (UTC)"
        bars={points.map(({ atMs, classes }) => ({ label: label(atMs), parts: new Map(Object.entries(classes)) }))}
      />
      <BarPlot
        lines
        label="Share of 429 and 5xx, percent"
        axis="From (UTC)"
        write={(share) => `${share.toFixed(1)} %`}
        bars={lines((point) => [
          ['429', shareOf(point, point.limited)],
          ['5xx', shareOf(point, point.classes['5xx'] ?? 0)],
        ])}
      />
      <BarPlot
        lines
        label="Latency, ms"
        axis="From (UTC)"
        write={(ms) => duration(ms / 1000)}
        bars={lines(({ latency }) => [
          ['median', inMs(quantileOf(latency, 0.5))],
          ['p99', inMs(quantileOf(latency, 0.99))],
        ])}
      />
      <Upstreams {...{ history, points, nowMs }} />
    </>
  );
}

function Ranges({ now }: { readonly now: Range }) {
  return (
    <nav aria-label="Range of the plots">
      {Object.keys(RANGES).map((range) => (
        <a
          href={`${CONSOLE}/?range=${encodeURIComponent(range)}`}
          {...(range === now ? { 'aria-current': 'true' as const } : {})}
        >
          {range}
        </a>
      ))}
    </nav>
  );
}

function Upstreams({
  history,
  points,
  nowMs,
}: Pick<SeriesParts, 'history' | 'nowMs'> & { readonly points: readonly Point[] }) {
  const { upstreams } = points.reduce(merged);
  return (
    <Table
      caption="Upstreams in this time"
      empty="No request went to an upstream."
      rows={Object.entries(upstreams)}
      columns={[
        { head: 'Upstream', cell: ([name]) => name },
        { head: 'Addresses up', cell: ([name]) => stateText(history.stateOf(name), nowMs) },
        { head: 'Requests', number: true, cell: ([, { requests }]) => requests },
        { head: 'Failed attempts', number: true, cell: ([, { failed }]) => failed },
        { head: 'Share failed', number: true, cell: ([, { requests, failed }]) => percent(failed, requests) },
        { head: 'Highest p99', number: true, cell: ([, { p99 }]) => duration(p99) },
      ]}
    />
  );
}

/** Returns text such as `0 % since 23:02 UTC`. */
function stateText(state: ReturnType<History['stateOf']>, nowMs: number): string {
  if (state === undefined) return '–';
  return `${Math.round(100 * state.up)} % since ${clockTime(state.sinceMs, nowMs)}`;
}

/** Returns the slice of an ISO 8601 time to show: `11-28T13:00` for 7 days, else `13:00`. */
function labelPart(range: Range): [number, number] {
  return range === '7 d' ? [5, 16] : [11, 16];
}

function shareOf({ classes }: Point, part: number): number | null {
  const requests = Object.values(classes).reduce((sum, count) => sum + count, 0);
  return requests === 0 ? null : (100 * part) / requests;
}

/** Null for Infinity, the bound of the last bucket, which cannot be drawn. */
function inMs(seconds: number | null): number | null {
  return seconds === null || seconds === Infinity ? null : seconds * 1000;
}
