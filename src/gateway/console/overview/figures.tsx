import { Cards } from '../../pages/components/cards.js';
import { fullNumber } from '../../pages/components/figure.js';
import { Sparkline } from '../../pages/components/sparkline.js';
import { quantileOf } from '../figures/buckets.js';
import type { Range } from '../figures/history.js';
import { merged, type Point } from '../figures/point.js';
import type { Span } from '../figures/window.js';

interface Figure {
  readonly name: string;
  /** Whether it is of clients: then no upstream has it. */
  readonly ofClients?: boolean;
  /** Null where nothing was measured. */
  readonly of: (point: Point, seconds: number) => number | null;
  readonly write: (figure: number | null) => string;
}

const FIGURES: readonly Figure[] = [
  { name: 'Requests per second', of: (point, seconds) => requestsIn(point) / seconds, write: numberText },
  { name: '429', ofClients: true, of: (point) => shareOf(point, point.limited), write: percentText },
  { name: '5xx', of: (point) => shareOf(point, point.classes['5xx'] ?? 0), write: percentText },
  { name: 'p99 latency', of: ({ latency }) => quantileOf(latency, 0.99), write: duration },
];

interface FigureParts {
  readonly upstream: string | undefined;
  /** At least three of equal length, oldest first. The last one is not over. */
  readonly points: readonly Point[];
  readonly range: Range;
  readonly nowMs: number;
}

/** Shows what the last two points have, how it changed since the earlier ones, and its course. */
export function Figures({ points, range, nowMs, upstream }: FigureParts) {
  const [earlier, latest] = [points.slice(0, -2), points.slice(-2)];
  const [first, last] = [earlier[0]!, latest[0]!];
  const stepS = (latest[1]!.atMs - last.atMs) / 1000;
  return (
    <Cards
      label={`Figures now, and in the last ${range}`}
      cards={FIGURES.filter(({ ofClients }) => upstream === undefined || ofClients !== true).map((figure) => {
        const { name, of, write } = figure;
        const now = of(latest.reduce(merged), Math.max(1, (nowMs - last.atMs) / 1000));
        const before = of(earlier.reduce(merged), (last.atMs - first.atMs) / 1000);
        const more = (
          <>
            <Sparkline figures={points.slice(0, -1).map((point) => of(point, stepS))} />
            <span class="hint">{changeText(now, before, write)}</span>
          </>
        );
        return { name, figure: write(now), more };
      })}
    />
  );
}

/** Returns text such as `up from 8.8`. */
function changeText(now: number | null, before: number | null, write: Figure['write']): string {
  if (now === null || before === null) return before === null ? 'nothing earlier' : `earlier ${write(before)}`;
  if (write(now) === write(before)) return 'as earlier';
  return `${now > before ? 'up' : 'down'} from ${write(before)}`;
}

export function State({ span: { to } }: { readonly span: Span }) {
  const state = (name: string, label: string, of: string): string => {
    const found = to.series(name).find(({ labels }) => labels[label] === of);
    return found === undefined ? '–' : fullNumber(found.value);
  };
  return (
    <Cards
      label="State of this gateway"
      cards={[
        { name: 'Requests so far', figure: fullNumber(to.sum('petgate_requests_total')) },
        { name: 'Under way', figure: to.sum('petgate_exchanges_in_flight') },
        { name: 'Keys banned', figure: state('petgate_bans_active', 'subject', 'key') },
        { name: 'Addresses banned', figure: state('petgate_bans_active', 'subject', 'address') },
        { name: 'Events waiting', figure: state('petgate_events', 'state', 'waiting') },
        { name: 'Events dead', figure: state('petgate_events', 'state', 'dead') },
        { name: 'Days waiting for the archive', figure: to.value('petgate_ledger_waiting') ?? '–' },
      ]}
    />
  );
}

function requestsIn({ classes }: Point): number {
  return Object.values(classes).reduce((sum, count) => sum + count, 0);
}

/** Returns the share of the requests in percent; null without requests. */
export function shareOf(point: Point, part: number): number | null {
  return percentOf(part, requestsIn(point));
}

export function percentOf(part: number, whole: number): number | null {
  return whole === 0 ? null : (100 * part) / whole;
}

export function percentText(share: number | null): string {
  return share === null ? '–' : `${numberText(share)} %`;
}

const SMALL = new Intl.NumberFormat('en-US', { maximumFractionDigits: 2 });

function numberText(figure: number | null): string {
  return figure === null ? '–' : figure < 10 ? SMALL.format(figure) : fullNumber(Math.round(figure));
}

export function duration(seconds: number | null): string {
  if (seconds === null) return '–';
  if (seconds === Infinity) return 'beyond measure';
  return seconds >= 1 ? `${numberText(seconds)} s` : `${numberText(seconds * 1000)} ms`;
}
