import type { Child } from '#jsx/jsx-runtime';
import { fullNumber } from '../../pages/components/figure.js';
import type { Sample } from '../figures/sample.js';
import type { Span } from '../figures/window.js';

interface Figure {
  readonly name: string;
  readonly shown: Child;
}

/** Shows the key figures of about the last minute. */
export function Figures({ span }: { readonly span: Span }) {
  return (
    <ul class="cards" aria-label="Figures of the last minute">
      {[...trafficOf(span), ...stateOf(span)].map(({ name, shown }) => (
        <li>
          <span class="soft">{name}</span>
          <span class="figure">{shown}</span>
        </li>
      ))}
    </ul>
  );
}

function trafficOf(span: Span): readonly Figure[] {
  const requests = span.grown('petgate_requests_total');
  const share = (kind: string): string => percent(span.grown('petgate_requests_total', 'class', kind), requests);
  return [
    { name: 'Requests per second', shown: span.seconds === 0 ? '–' : decimals(requests / span.seconds) },
    { name: '5xx', shown: share('5xx') },
    { name: '4xx', shown: share('4xx') },
    { name: 'Median latency', shown: duration(span.quantile('petgate_request_duration_seconds', 0.5)) },
    { name: 'p99 latency', shown: duration(span.quantile('petgate_request_duration_seconds', 0.99)) },
    { name: 'Requests so far', shown: fullNumber(span.to.sum('petgate_requests_total')) },
  ];
}

function stateOf({ to }: Span): readonly Figure[] {
  const state = (name: string, label: string, of: string): Child => {
    const found = to.series(name).find(({ labels }) => labels[label] === of);
    return found === undefined ? '–' : fullNumber(found.value);
  };
  return [
    { name: 'Keys banned', shown: state('petgate_bans_active', 'subject', 'key') },
    { name: 'Addresses banned', shown: state('petgate_bans_active', 'subject', 'address') },
    { name: 'Under way', shown: to.sum('petgate_exchanges_in_flight') },
    { name: 'Store', shown: storeText(to.value('petgate_store_up'), to.value('petgate_store_degraded')) },
    { name: 'Upstreams up', shown: upstreamsText(to) },
    { name: 'Days waiting for the archive', shown: to.value('petgate_ledger_waiting') ?? '–' },
    { name: 'Events waiting', shown: state('petgate_events', 'state', 'waiting') },
    { name: 'Events dead', shown: state('petgate_events', 'state', 'dead') },
  ];
}

function storeText(up: number | undefined, degraded: number | undefined): string {
  if (degraded === 1) return 'degraded';
  return up === 1 ? 'up' : 'down';
}

/** An upstream that was not checked yet counts as neither up nor down. */
function upstreamsText(to: Sample): string {
  const upstreams = to.by('petgate_upstream_up_ratio', 'upstream');
  const checked = to.by('petgate_upstream_checked_ratio', 'upstream');
  const known = [...upstreams].filter(([name]) => checked.get(name) !== 0);
  const up = known.filter(([, ratio]) => ratio > 0).length;
  if (known.length === upstreams.size) return `${up} of ${upstreams.size}`;
  if (known.length === 0) return 'not checked yet';
  return `${up} of ${upstreams.size}, ${upstreams.size - known.length} not checked yet`;
}

export function percent(part: number, whole: number): string {
  return whole === 0 ? '–' : `${decimals((100 * part) / whole)} %`;
}

function decimals(figure: number): string {
  return figure.toLocaleString('en-US', { maximumFractionDigits: figure < 10 ? 2 : 0 });
}

export function duration(seconds: number | null): string {
  if (seconds === null) return '–';
  if (seconds === Infinity) return 'beyond measure';
  return seconds < 1 ? `${decimals(seconds * 1000)} ms` : `${decimals(seconds)} s`;
}
