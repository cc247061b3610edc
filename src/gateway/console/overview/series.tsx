import { fullNumber } from '../../pages/components/figure.js';
import { addressOf } from '../../pages/components/pager.js';
import { BarPlot } from '../../pages/components/plot.js';
import { Sparkline } from '../../pages/components/sparkline.js';
import { Table } from '../../pages/components/table.js';
import { quantileOf } from '../figures/buckets.js';
import { RANGES, type History, type Range } from '../figures/history.js';
import { merged, type Point, type Upstream } from '../figures/point.js';
import { CONSOLE } from '../visit/page.js';
import { duration, percentOf, percentText, shareOf } from './figures.js';
import { upstreamState } from './upstream-state.js';

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
export function Series({ points, range, upstream }: Pick<SeriesParts, 'points'> & RangesParts) {
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
        label={`Share of ${upstream === undefined ? '429 and ' : ''}5xx, percent`}
        axis="From (UTC)"
        write={(share) => `${share.toFixed(1)} %`}
        bars={lines((point) => [
          ['429', upstream === undefined ? shareOf(point, point.limited) : null],
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

interface RangesParts extends Pick<SeriesParts, 'range'> {
  readonly upstream: string | undefined;
}

export function Ranges({ range: now, upstream }: RangesParts) {
  return (
    <nav aria-label="Range of the figures">
      {Object.keys(RANGES).map((range) => (
        <a href={addressOf(`${CONSOLE}/`, { range, upstream })} aria-current={range === now ? 'true' : undefined}>
          {range}
        </a>
      ))}
      {upstream !== undefined && <a href={addressOf(`${CONSOLE}/`, { range: now })}>All requests</a>}
    </nav>
  );
}

/** Lists the upstreams with the course of their figures, those with the most errors first. */
export function Upstreams({ history, points, range, nowMs }: SeriesParts) {
  const rows = Object.entries(points.reduce(merged).upstreams).sort(
    ([, one], [, other]) => other.errors - one.errors || other.failed - one.failed,
  );
  const column = (
    head: string,
    of: (upstream: Upstream) => number | null,
    write: (figure: number | null) => string,
  ) => ({
    ...{ head, number: true },
    cell: ([name, sum]: (typeof rows)[number]) => (
      <>
        {write(of(sum))}
        <Sparkline figures={points.map(({ upstreams }) => (upstreams[name] ? of(upstreams[name]) : null))} />
      </>
    ),
  });
  return (
    <>
      <h2>Upstreams</h2>
      <Table
        caption={`Requests to upstreams in the last ${range}`}
        empty="No request went to an upstream."
        rows={rows}
        columns={[
          {
            head: 'Upstream',
            cell: ([name]) => <a href={addressOf(`${CONSOLE}/`, { range, upstream: name })}>{name}</a>,
          },
          { head: 'Addresses', cell: ([name]) => upstreamState(history, name, nowMs) },
          column(
            'Requests',
            ({ requests }) => requests,
            (requests) => fullNumber(requests ?? 0),
          ),
          column('5xx', ({ errors, requests }) => percentOf(errors, requests), percentText),
          column('Median', ({ latency }) => quantileOf(latency, 0.5), duration),
          column('p99', ({ latency }) => quantileOf(latency, 0.99), duration),
          { head: 'Failed attempts', number: true, cell: ([, { failed }]) => fullNumber(failed) },
        ]}
      />
    </>
  );
}

/** Whether the labels need the date: `11-28 13:00` instead of `13:00`. */
function isLong(range: Range): boolean {
  return RANGES[range].lengthMs > RANGES['1 h'].lengthMs;
}

/** Null for Infinity, the bound of the last bucket, which cannot be drawn. */
function inMs(seconds: number | null): number | null {
  return seconds === null || seconds === Infinity ? null : seconds * 1000;
}
