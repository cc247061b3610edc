import { z } from 'zod';
import { countOf, sumOf, type Buckets } from './buckets.js';
import type { Span } from './window.js';

const FIGURE = z.union([z.number(), z.literal('Infinity').transform(() => Infinity)]);
const LATENCY_FORM: z.ZodType<Buckets> = z.array(z.tuple([FIGURE, z.number()]));
/** `failed`: attempts. `errors`: requests that ended in a 5xx. Version 0.4 wrote neither these nor the latency. */
const UPSTREAM = z.object({
  ...{ requests: z.number(), failed: z.number() },
  ...{ errors: z.number().default(0), latency: LATENCY_FORM.default([]) },
});
export type Upstream = z.output<typeof UPSTREAM>;
/**
 * The requests that ended in one period, which begins at `atMs` (Unix ms). `classes`: by status class, such as `2xx`.
 * `limited`: 429s because of a limit or a ban.
 */
export const POINT = z.object({
  atMs: z.number(),
  classes: z.record(z.string(), z.number()),
  limited: z.number(),
  latency: LATENCY_FORM,
  upstreams: z.record(z.string(), UPSTREAM),
});
export type Point = Readonly<z.output<typeof POINT>>;

/** If there are more, a point has the first of them, by name. Each takes at most 300 bytes: a name and 15 buckets. */
const MAX_UPSTREAMS = 8;
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
  const errors = span.grownBy('petgate_upstream_errors_total', 'upstream');
  const upstreams = [...span.to.by(`${UPSTREAM_LATENCY}_count`, 'upstream').keys()].sort().slice(0, MAX_UPSTREAMS);
  return {
    atMs,
    classes: Object.fromEntries([...span.grownBy(REQUESTS, 'class')].filter(([, count]) => count > 0)),
    limited: span.grown('petgate_limited_total') + span.grown('petgate_banned_total'),
    latency: span.buckets(LATENCY).filter(([, count]) => count > 0),
    upstreams: Object.fromEntries(
      upstreams.map((name) => {
        const latency = span.buckets(UPSTREAM_LATENCY, ['upstream', name]).filter(([, count]) => count > 0);
        const failed = failures.get(name) ?? 0;
        return [name, { requests: countOf(latency), failed, errors: errors.get(name) ?? 0, latency }];
      }),
    ),
  };
}

const NOTHING = { requests: 0, failed: 0, errors: 0, latency: [] };

/** Returns the requests of a point that went to one upstream. */
export function ofUpstream({ atMs, upstreams }: Point, name: string): Point {
  const { requests, errors, latency } = upstreams[name] ?? NOTHING;
  return { ...emptyAt(atMs), classes: { '5xx': errors, others: requests - errors }, latency };
}

/** Returns the sum of two points, with the start of the first. */
export function merged(first: Point, second: Point): Point {
  const upstreams = { ...first.upstreams };
  for (const [name, { requests, failed, errors, latency }] of Object.entries(second.upstreams)) {
    const one = upstreams[name] ?? NOTHING;
    upstreams[name] = {
      requests: one.requests + requests,
      failed: one.failed + failed,
      errors: one.errors + errors,
      latency: sumOf(one.latency, latency),
    };
  }
  const classes: Record<string, number> = { ...first.classes };
  for (const [name, count] of Object.entries(second.classes)) classes[name] = (classes[name] ?? 0) + count;
  const limited = first.limited + second.limited;
  return { atMs: first.atMs, classes, limited, latency: sumOf(first.latency, second.latency), upstreams };
}
