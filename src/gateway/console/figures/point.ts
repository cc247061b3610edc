import { z } from 'zod';
import { countOf, quantileOf, sumOf, type Buckets } from './buckets.js';
import type { Span } from './window.js';

const FIGURE = z.union([z.number(), z.literal('Infinity').transform(() => Infinity)]);
/** `failed`: attempts. `p99`: seconds, null without requests; the largest of merged points. */
const UPSTREAM = z.object({ requests: z.number(), failed: z.number(), p99: FIGURE.nullable() });
export const POINT = z.object({
  atMs: z.number(),
  classes: z.record(z.string(), z.number()),
  limited: z.number(),
  latency: z.array(z.tuple([FIGURE, z.number()])),
  upstreams: z.record(z.string(), UPSTREAM),
});

/** The requests that ended in one period. */
export interface Point {
  /** Start of the period, Unix ms. */
  readonly atMs: number;
  /** Requests by status class, such as `2xx`. */
  readonly classes: Readonly<Record<string, number>>;
  /** 429s because of a limit or a ban. */
  readonly limited: number;
  readonly latency: Buckets;
  readonly upstreams: Readonly<Record<string, z.output<typeof UPSTREAM>>>;
}

/** If there are more, a point has the first of them, by name. */
const MAX_UPSTREAMS = 16;
const REQUESTS = 'petgate_requests_total';
const LATENCY = 'petgate_request_duration_seconds';
const UPSTREAM_LATENCY = 'petgate_upstream_duration_seconds';

/** Returns a point without requests. */
export function emptyAt(atMs: number): Point {
  return { atMs, classes: {}, limited: 0, latency: [], upstreams: {} };
}

/** Returns the start of the period that `atMs` is in. */
export function startOf(atMs: number, periodMs: number): number {
  return Math.floor(atMs / periodMs) * periodMs;
}

/** Returns the requests that ended in `span`. @param atMs start of the period */
export function pointOf(span: Span, atMs: number): Point {
  const failures = span.grownBy('petgate_upstream_failures_total', 'upstream');
  const upstreams = [...span.to.by(`${UPSTREAM_LATENCY}_count`, 'upstream').keys()].sort().slice(0, MAX_UPSTREAMS);
  return {
    atMs,
    classes: Object.fromEntries([...span.grownBy(REQUESTS, 'class')].filter(([, count]) => count > 0)),
    limited: span.grown('petgate_limited_total') + span.grown('petgate_banned_total'),
    latency: span.buckets(LATENCY).filter(([, count]) => count > 0),
    upstreams: Object.fromEntries(
      upstreams.map((name) => {
        const buckets = span.buckets(UPSTREAM_LATENCY, ['upstream', name]);
        return [name, { requests: countOf(buckets), failed: failures.get(name) ?? 0, p99: quantileOf(buckets, 0.99) }];
      }),
    ),
  };
}

/** Returns the sum of two points, with the start of the first. */
export function merged(first: Point, second: Point): Point {
  const upstreams = { ...first.upstreams };
  for (const [name, { requests, failed, p99 }] of Object.entries(second.upstreams)) {
    const one = upstreams[name] ?? { requests: 0, failed: 0, p99: null };
    const larger = p99 === null || one.p99 === null ? (p99 ?? one.p99) : Math.max(p99, one.p99);
    upstreams[name] = { requests: one.requests + requests, failed: one.failed + failed, p99: larger };
  }
  const classes: Record<string, number> = { ...first.classes };
  for (const [name, count] of Object.entries(second.classes)) classes[name] = (classes[name] ?? 0) + count;
  const limited = first.limited + second.limited;
  return { atMs: first.atMs, classes, limited, latency: sumOf(first.latency, second.latency), upstreams };
}
