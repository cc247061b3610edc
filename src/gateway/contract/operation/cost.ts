import { z } from 'zod';
import { MAX_COST } from '../../admission/bucket.js';
import { choice, mapping, whole, wholeError } from '../../config/schema/values.js';
import { onlyValueOf } from '../../edge/fields.js';

/** Bytes of a unit: more than a response ever has. */
const MAX_BYTES = 1e12;

const field = z
  .string({ error: 'must name a header field' })
  .regex(/^[!#$%&'*+\-.^_`|~\w]{1,100}$/, 'must name a header field, such as x-usage-units')
  .transform((name) => name.toLowerCase());
const parameter = z
  .string({ error: 'must name a query parameter' })
  .regex(/^[^\p{Cc}&=#]{1,100}$/u, 'must name a query parameter, such as limit');
/** RFC 6901; read as the names on the way to the figure. */
const pointer = z
  .string({ error: 'must be a JSON pointer' })
  .regex(/^(?:\/(?:[^~/]|~[01])*){1,20}$/, 'must be a JSON pointer, such as /usage/total_tokens')
  .transform((text) =>
    text
      .slice(1)
      .split('/')
      .map((name) => name.replaceAll('~1', '/').replaceAll('~0', '~')),
  );

const units = whole(1, MAX_COST);
const said = { default: units, max: units.optional() };
const orSaid = ', { header: x-max-units, default: 4000 } or { query: limit, default: 100 }';
const hold = z.union(
  [whole(1, MAX_COST, orSaid), mapping({ header: field, ...said }), mapping({ query: parameter, ...said })],
  { error: wholeError(1, MAX_COST, orSaid) },
);
const source = z.union(
  [mapping({ header: field }), mapping({ json: pointer }), mapping({ bytes: whole(1, MAX_BYTES) })],
  { error: 'must be { header: x-usage-units }, { json: /usage/total_tokens } or { bytes: 1024 }' },
);

const orHold = ', or { hold: 4000, from: { header: x-usage-units } }';
/** `x-petgate.cost`: units, or a hold that is settled when the response is known. */
export const cost = z.union(
  [whole(0, MAX_COST, orHold), mapping({ hold, from: source, missing: choice('hold', 'nothing').default('hold') })],
  { error: wholeError(0, MAX_COST, orHold) },
);

/** What of a response says what it cost. */
export type CostSource = z.output<typeof source>;

/** How the cost of an operation is known. */
export interface Metered {
  /** Where a request says how much to hold; null if each holds the same. */
  readonly said: Exclude<z.output<typeof hold>, number> | null;
  readonly from: CostSource;
  /** What a response without a figure costs. */
  readonly missing: 'hold' | 'nothing';
}

/** Returns the units that an operation costs or holds by default, and how its cost is known; null if that is fixed. */
export function readCost(given: z.output<typeof cost>): { readonly cost: number; readonly metered: Metered | null } {
  if (typeof given === 'number') return { cost: given, metered: null };
  const { hold: held, from, missing } = given;
  if (typeof held === 'number') return { cost: held, metered: { said: null, from, missing } };
  return { cost: held.default, metered: { said: held, from, missing } };
}

/**
 * Returns the units that this request holds: what it says, at most `max`; the default if it says nothing, or several
 * things, or no whole number. The upstream refuses what is invalid.
 */
export function holdOf(
  said: NonNullable<Metered['said']>,
  { headers, query }: { readonly headers: readonly string[]; readonly query: string },
): number {
  const value = 'header' in said ? onlyValueOf(headers, said.header) : onlyParameter(query, said.query);
  if (value === null || !/^\d{1,9}$/.test(value)) return said.default;
  return Math.max(1, Math.min(Number(value), said.max ?? MAX_COST));
}

function onlyParameter(query: string, name: string): string | null {
  const [value, ...others] = new URLSearchParams(query).getAll(name);
  return value === undefined || others.length > 0 ? null : value;
}
