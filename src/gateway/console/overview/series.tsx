import { fullNumber } from '../../pages/components/figure.js';
import { BarPlot } from '../../pages/components/plot.js';
import { Table } from '../../pages/components/table.js';
import { quantileOf } from '../figures/buckets.js';
import { RANGES, type History, type Range } from '../figures/history.js';
import { merged, type Point } from '../figures/point.js';
import { CONSOLE } from '../page.js';
import { clockTime } from './clock-time.js';
import { duration, percent, shareOf } from './figures.js';

interface SeriesParts {
  readonly history: History;
  readonly points: readonly Point[];
  readonly range: Range;
  readonly nowMs: number;
}

/** Returns the requested range; the shortest if the text is not a range. */
export function rangeOf(text: string | undefined): Range {
  return text !== undefined && Object.hasOwn(RANGES, text) ? (text as Range) : '15 min';
}

/** Plots traffic, failures and latency over time. */
export function Series({ points, range }: Pick<SeriesParts, 'points' | 'range'>) {
  const label = (atMs: number): string =>
    new Date(atMs)
      .toISOString()
      .slice(isLong(range) ? 5 : 11, 16)
      .replace('T', ' ');
  const lines = (of: (point: Point) => readonly (readonly [string, number | null])[]) =>
    points.map((point) => ({
      label: label(point.atMs),
      parts: new Map(of(point).filter((one): one is readonly [string, number] => one[1] !== null)),
    }));
  return (
    <>
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
    </>
  );
}

export function Ranges({ now }: { readonly now: Range }) {
  return (
    <nav aria-label="Range of the figures">
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

/** Lists the upstreams, those with the most failures first. */
export function Upstreams({ history, points, range, nowMs }: SeriesParts) {
  const { upstreams } = points.reduce(merged);
  const rows = Object.entries(upstreams).sort(([, one], [, other]) => other.failed - one.failed);
  return (
    <>
      <h2>Upstreams</h2>
      <Table
        caption={`Requests to upstreams in the last ${range}`}
        empty="No request went to an upstream."
        rows={rows}
        columns={[
          { head: 'Upstream', cell: ([name]) => name },
          { head: 'Addresses up', cell: ([name]) => stateText(history.stateOf(name), nowMs) },
          { head: 'Requests', number: true, cell: ([, { requests }]) => fullNumber(requests) },
          { head: 'Failed attempts', number: true, cell: ([, { failed }]) => fullNumber(failed) },
          { head: 'Share failed', number: true, cell: ([, { requests, failed }]) => percent(failed, requests) },
          { head: 'Highest p99', number: true, cell: ([, { p99 }]) => duration(p99) },
        ]}
      />
    </>
  );
}

/** Returns text such as `0 % since 23:02 UTC`. */
function stateText(state: ReturnType<History['stateOf']>, nowMs: number): string {
  if (state === undefined) return '–';
  return `${Math.round(100 * state.up)} % since ${clockTime(state.sinceMs, nowMs)}`;
}

/** Whether the labels need the date: `11-28 13:00` instead of `13:00`. */
function isLong(range: Range): boolean {
  return RANGES[range].lengthMs > RANGES['1 h'].lengthMs;
}

/** Null for Infinity, the bound of the last bucket, which cannot be drawn. */
function inMs(seconds: number | null): number | null {
  return seconds === null || seconds === Infinity ? null : seconds * 1000;
}
