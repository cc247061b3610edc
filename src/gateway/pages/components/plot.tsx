import type { Child } from '#jsx/jsx-runtime';
import { fullNumber } from './figure.js';
import { Table } from './table.js';

/** One bar of a plot, with stacked parts. */
interface Bar {
  readonly label: string;
  readonly parts: ReadonlyMap<string, number>;
  /** Drawn pale, because its figures may still grow. */
  readonly pale?: boolean;
}

interface Limit {
  readonly label: string;
  readonly figure: number;
}

interface PlotParts {
  readonly label: string;
  /** What a bar represents, such as `Day (UTC)`. */
  readonly axis: string;
  readonly bars: readonly Bar[];
  /** What a pale bar means. */
  readonly pale?: string;
  /** Drawn across the bars. */
  readonly limit?: Limit | undefined;
  /** Draws lines instead of stacked bars. A line has a gap where a bar has no part with its name. */
  readonly lines?: boolean;
  /** Formats figures in the table and in tooltips. */
  readonly write?: (figure: number) => string;
}

const WIDTH = 960;
const HEIGHT = 300;
const LEFT = 64;
const RIGHT = 12;
const TOP = 12;
const BOTTOM = 34;
const TICKS = 4;
/** A limit is drawn if it is at most this many times the highest bar. */
const FAR = 4;
/** Width of a label on the axis. */
const LABEL_WIDTH = 76;
/** Number of colors in the style sheet; any further parts share the last one. */
const COLOURS = 8;
/** A status class always has the same color, whichever others are shown. */
const STATUS_CLASS = /^[1-5]xx$/;
const INNER = HEIGHT - TOP - BOTTOM;

/** Stacked bars or lines as a drawing with a legend, and the same figures as a table. Needs no script. */
export function BarPlot({ label, axis, bars, pale, limit, lines = false, write = fullNumber }: PlotParts) {
  const names = [...new Set(bars.flatMap(({ parts }) => [...parts.keys()]))].sort();
  return (
    <figure>
      <figcaption>{label}</figcaption>
      <Legend {...{ names, limit }} pale={bars.some((bar) => bar.pale === true) ? pale : undefined} />
      <Drawing {...{ label, names, bars, limit, lines, write }} />
      <details>
        <summary>{`${label}: as a table`}</summary>
        <Table
          caption={label}
          empty="Nothing."
          rows={bars}
          columns={[
            { head: axis, cell: (bar) => bar.label + (bar.pale === true && pale !== undefined ? ` (${pale})` : '') },
            ...names.map((name) => ({
              head: name,
              number: true,
              cell: ({ parts }: Bar): Child => (lines && !parts.has(name) ? '–' : write(parts.get(name) ?? 0)),
            })),
          ]}
        />
      </details>
    </figure>
  );
}

interface DrawingParts extends Required<Pick<PlotParts, 'label' | 'bars' | 'limit' | 'lines' | 'write'>> {
  readonly names: readonly string[];
}

function Drawing({ label, names, bars, limit, lines, write }: DrawingParts) {
  const highest = Math.max(0, ...bars.map(lines ? largestOf : sumOf));
  // A limit far above the bars would make them too small to see; the legend has it.
  const line = limit !== undefined && limit.figure <= FAR * highest ? limit.figure : null;
  const step = stepOf(Math.max(highest, line ?? 0));
  const slot = (WIDTH - LEFT - RIGHT) / Math.max(bars.length, 1);
  const yOf = (figure: number): number => round(TOP + INNER * (1 - figure / (step * TICKS)));
  const every = Math.max(1, Math.ceil(LABEL_WIDTH / slot));
  return (
    <div class="scroll" role="region" aria-label={`${label}, drawn`} tabindex={0}>
      <svg viewBox={`0 0 ${WIDTH} ${HEIGHT}`} role="img" aria-label={label}>
        {Array.from({ length: TICKS + 1 }, (_, n) => (
          <g>
            <line class="grid" x1={LEFT} x2={WIDTH - RIGHT} y1={yOf(n * step)} y2={yOf(n * step)} />
            <text class="tick" x={LEFT - 8} y={yOf(n * step) + 4} text-anchor="end">
              {shortNumber(n * step)}
            </text>
          </g>
        ))}
        {bars.map((bar, n) => (
          <Column {...{ bar, names, slot, lines, yOf, write }} left={LEFT + n * slot} />
        ))}
        {lines && names.map((name, index) => <Line {...{ name, index, bars, slot, yOf }} />)}
        {bars.map(
          (bar, n) =>
            n % every === 0 && (
              <text
                class="tick"
                x={round(Math.min(LEFT + (n + 0.5) * slot, WIDTH - LABEL_WIDTH / 2))}
                y={HEIGHT - 12}
                text-anchor="middle"
              >
                {bar.label}
              </text>
            ),
        )}
        {line !== null && <line class="limit" x1={LEFT} x2={WIDTH - RIGHT} y1={yOf(line)} y2={yOf(line)} />}
        <line class="axis" x1={LEFT} x2={WIDTH - RIGHT} y1={yOf(0)} y2={yOf(0)} />
      </svg>
    </div>
  );
}

/** A line with one point in the middle of each slot, interrupted at gaps. */
function Line({
  name,
  index,
  bars,
  slot,
  yOf,
}: Pick<ColumnParts, 'slot' | 'yOf'> & Pick<DrawingParts, 'bars'> & { readonly name: string; readonly index: number }) {
  const points = bars.map(({ parts }, n) => {
    const figure = parts.get(name);
    return figure === undefined ? null : ([LEFT + (n + 0.5) * slot, yOf(figure)] as const);
  });
  return <path class={`line ${colourOf(name, index)}`} d={pathOf(points)} />;
}

/** Returns the `d` of a line through these points, interrupted at null. */
export function pathOf(points: readonly (readonly [x: number, y: number] | null)[]): string {
  const parts = points.map((point, n) => {
    if (point === null) return '';
    // The short stroke shows a point between two gaps.
    return `${(points[n - 1] ?? null) === null ? 'M' : 'L'}${round(point[0])} ${round(point[1])}h.01`;
  });
  return parts.join('');
}

interface ColumnParts extends Pick<DrawingParts, 'names' | 'lines' | 'write'> {
  readonly bar: Bar;
  readonly left: number;
  readonly slot: number;
  readonly yOf: (figure: number) => number;
}

function Column({ bar, names, lines, left, slot, yOf, write }: ColumnParts) {
  const width = round(Math.max(1, slot * 0.7));
  const x = round(left + (slot - width) / 2);
  let below = 0;
  const parts = (lines ? [] : names).map((name, index) => {
    const figure = bar.parts.get(name) ?? 0;
    const [top, bottom] = [yOf(below + figure), yOf(below)];
    below += figure;
    return (
      figure > 0 && <rect class={colourOf(name, index)} x={x} y={top} width={width} height={round(bottom - top)} />
    );
  });
  const each = names.filter((name) => bar.parts.has(name)).map((name) => `${name} ${write(bar.parts.get(name)!)}`);
  return (
    <g class={bar.pale === true ? 'bar pale' : 'bar'}>
      <title>
        {lines
          ? `${bar.label}: ${each.join(', ')}`
          : `${bar.label}: ${write(sumOf(bar))}${each.length > 1 ? ` (${each.join(', ')})` : ''}`}
      </title>
      <rect class="hover" x={round(left)} y={TOP} width={round(slot)} height={INNER} />
      {parts}
    </g>
  );
}

function Legend({ names, limit, pale }: Pick<DrawingParts, 'names' | 'limit'> & { pale: string | undefined }) {
  return (
    <ul class="legend">
      {names.map((name, index) => (
        <li>
          <span class={`swatch ${colourOf(name, index)}`} />
          {name}
        </li>
      ))}
      {limit !== undefined && (
        <li>
          <span class="swatch limit" />
          {`${limit.label} ${fullNumber(limit.figure)}`}
        </li>
      )}
      {pale !== undefined && <li class="soft">{`pale: ${pale}`}</li>}
    </ul>
  );
}

/** Returns the limit of the day, for a plot of days; undefined if there is none. */
export function dayLimit(
  windows: readonly { readonly name: string; readonly limit: number | 'unlimited' }[],
): Limit | undefined {
  const limit = windows.find(({ name }) => name === 'day')?.limit ?? 'unlimited';
  return limit === 'unlimited' ? undefined : { label: 'limit a day', figure: limit };
}

function colourOf(name: string, index: number): string {
  return STATUS_CLASS.test(name) ? `s${name.charAt(0)}` : `c${Math.min(index, COLOURS - 1)}`;
}

function sumOf({ parts }: Bar): number {
  return [...parts.values()].reduce((sum, figure) => sum + figure, 0);
}

function largestOf({ parts }: Bar): number {
  return Math.max(0, ...[...parts.values()].filter(Number.isFinite));
}

/** Returns the distance of grid lines: an integer, 1, 2, 2.5 or 5 times a power of ten; `TICKS` steps fit `highest`. */
function stepOf(highest: number): number {
  const least = Math.max(highest / TICKS, 1);
  const power = 10 ** Math.floor(Math.log10(least));
  const factor = [1, 2, 2.5, 5, 10].find((each) => each * power >= least && Number.isInteger(each * power)) ?? 10;
  return factor * power;
}

/** `12.5k`, for an axis. */
function shortNumber(figure: number): string {
  for (const [unit, size] of [
    ['G', 1e9],
    ['M', 1e6],
    ['k', 1e3],
  ] as const)
    if (figure >= size) return `${String(Number((figure / size).toFixed(2)))}${unit}`;
  return String(figure);
}

function round(length: number): number {
  return Math.round(length * 100) / 100;
}
