import { z } from 'zod';
import { MAX_LIMIT, type Limits } from '../admission/bucket.js';
import { MAX_CONCURRENCY } from '../admission/leases.js';
import { ANONYMOUS_PLAN, type Plan, type Plans } from '../admission/plan.js';
import { whole, wholeError } from '../config/schema/values.js';
import { suggestion } from '../../shared/names/nearest.js';
import { isDay } from '../../shared/utc-day.js';
import { dearestOn, tooSmallFor, type Costs } from './plans/price.js';
import { KeyRefused } from './refused.js';
import { IMPORTED_MIN_LENGTH } from './token.js';

/** The rules for fields. */
export interface FieldRules {
  readonly plans: Plans;
  /** Every scope of the contract. */
  readonly scopes: readonly string[];
  /** Cost of each operation by the contract. */
  readonly costs: Costs;
  /** Whether tokens of another form may be imported. */
  readonly acceptImported: boolean;
  readonly nowMs: number;
  /** Its current plan, which may be retired. */
  readonly has?: string;
}

export type Body = Readonly<Record<string, unknown>>;
/** The fields of a body: the source of parsing, refusals and OpenAPI. */
export type Shape = Readonly<Record<string, z.ZodType>>;
/** Their parsed values. */
export type Checked<Fields extends Shape> = {
  readonly [Name in keyof Fields as undefined extends z.output<Fields[Name]> ? never : Name]: z.output<Fields[Name]>;
} & { readonly [Name in keyof Fields]?: Exclude<z.output<Fields[Name]>, undefined> };
type Values<Fields extends Shape> = { -readonly [Name in keyof Fields]?: Exclude<z.output<Fields[Name]>, undefined> };

const LIMITS_EXAMPLE = '{"minute":5000,"day":"unlimited"}';
// A date without a zone would mean another time on another machine.
const ISO_DATE = /^\d{4}-\d{2}-\d{2}(?:T\d{2}:\d{2}(?::\d{2}(?:\.\d{1,3})?)?(?:Z|[+-]\d{2}:\d{2}))?$/;

/** For describing a body: rules that no value is checked against. */
export const NO_RULES: FieldRules = { plans: new Map(), scopes: [], costs: new Map(), acceptImported: false, nowMs: 0 };

/** Returns the valid fields of `body`; adds a problem for each other one, by name. */
export function readFields<Fields extends Shape>(
  body: Body,
  fields: Fields,
  problems: string[],
  kind = 'field',
): Values<Fields> {
  const values: Record<string, unknown> = {};
  problems.push(...unknownFields(body, Object.keys(fields), kind));
  for (const [field, schema] of Object.entries(fields)) {
    const parsed = schema.safeParse(Object.hasOwn(body, field) ? body[field] : undefined);
    if (!parsed.success) problems.push(`${field}: ${messageOf(parsed.error.issues[0]!)}`);
    else if (parsed.data !== undefined) values[field] = parsed.data;
  }
  return values as Values<Fields>;
}

/** Parses all of `body` by these fields. Throws KeyRefused. */
export function required<Fields extends Shape>(body: Body, fields: Fields): Checked<Fields> {
  const problems: string[] = [];
  const values = readFields(body, fields, problems);
  if (problems.length > 0) throw new KeyRefused('invalid', problems);
  return values as Checked<Fields>;
}

/** Returns a problem for each field of `body` that is not in `allowed`. */
export function unknownFields(body: Body, allowed: readonly string[], kind = 'field'): readonly string[] {
  const strangers = Object.keys(body).filter((field) => !allowed.includes(field));
  return strangers.map((field) => `unknown ${kind} ${quote(field)}: ${suggestion(field.slice(0, 64), allowed)}`);
}

/** Returns a problem if a change is empty. */
export function nothingIn(body: Body, fields: Shape): readonly string[] {
  return Object.keys(body).length > 0
    ? []
    : [`nothing to change: send one or more of ${Object.keys(fields).join(', ')}`];
}

function messageOf({ path, message }: z.core.$ZodIssue): string {
  return [...path.filter((key) => typeof key === 'string'), message].join(' ');
}

/** `schema` with a further check by `problemOf`. */
export function checked<Schema extends z.ZodType>(
  schema: Schema,
  problemOf: (value: z.output<Schema>) => string | null,
): Schema {
  return schema.superRefine((value, context) => {
    const problem = problemOf(value);
    if (problem !== null) context.addIssue(problem);
  });
}

/** The message for a wrong type, or for a missing field. */
export const orMissing =
  (message: string) =>
  ({ input }: { readonly input?: unknown }): string =>
    input === undefined ? 'is required' : message;

/** Marks, embeddings, overrides and isolates of bidirectional text, and the two line breaks of Unicode. */
const REORDERING = /[\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]/;
/** Something visible: neither blank, nor ignorable, nor the empty Braille pattern. */
export const VISIBLE = /[^\s\p{Z}\p{C}\p{M}\p{Default_Ignorable_Code_Point}\u2800]/u;

/** A text for people. It appears in lists and logs, where no key or token may appear. */
export function text(length: number, form = `must be a text of at most ${length} characters`): z.ZodString {
  const tooLong = ({ input }: { readonly input?: unknown }): string =>
    `at most ${length} characters, this has ${String(input).length}`;
  return z
    .string({ error: orMissing(form) })
    .max(length, { error: tooLong })
    .refine((value) => !/\p{Cc}|\p{Cs}/u.test(value), 'no control characters and no broken surrogates')
    .refine((value) => !REORDERING.test(value), 'no characters that change the direction of text, and no line breaks')
    .refine((value) => !/pt[ga]_/.test(value), 'must not contain a key or a token');
}

const NAME_FORM = 'must be a text of 1 to 100 characters, at least one of them visible';
export const name = text(100, NAME_FORM).regex(VISIBLE, NAME_FORM).describe('A name for people');
export const reference = text(100).describe('Its id in the billing system; may be empty');
export const note = text(1_000).describe('A note for operators');

export const status = z
  .enum(['enabled', 'disabled'], {
    error: ({ input }) =>
      input === 'revoked' ? 'revoke a key with DELETE; it is final' : 'must be "enabled" or "disabled"',
  })
  .describe('Whether it is accepted');

/** Names of the plans that can be assigned. */
export function openPlans(plans: Plans): readonly string[] {
  const open = [...plans.values()].filter(({ name, retired }) => name !== ANONYMOUS_PLAN && retired !== true);
  return open.map(({ name }) => name);
}

/** The name of a plan that can be assigned. */
export function planIn({ plans, has }: Pick<FieldRules, 'plans' | 'has'>): z.ZodString {
  const names = openPlans(plans);
  return checked(z.string({ error: orMissing(`must be a plan's name: ${names.join(', ')}`) }), (value) => {
    const choice = `choose one of ${names.join(', ')}`;
    if (value === ANONYMOUS_PLAN) return `"${ANONYMOUS_PLAN}" is for callers without a key; ${choice}`;
    if (!plans.has(value)) return `there is no plan ${quote(value)}; ${suggestion(value.slice(0, 64), names)}`;
    if (plans.get(value)!.retired !== true || value === has) return null;
    return `plan ${quote(value)} is retired: its holders keep it, and no one else gets it; ${choice}`;
  })
    .describe('A plan, such as free or pro')
    .meta({ format: 'plan' });
}

const limit = (per: string, or = ', or "unlimited"') =>
  z
    .union([whole(1, MAX_LIMIT, or), z.literal('unlimited')], { error: wholeError(1, MAX_LIMIT, or) })
    .describe(`Units per ${per}, or unlimited; only on a plan with custom limits`);

/** A key's own limits; null for none. */
export const limits = z
  .strictObject(
    {
      minute: limit('minute'),
      day: limit('day'),
      month: limit('month', ', or "unlimited"; leave it out for none').exactOptional(),
      concurrency: whole(1, MAX_CONCURRENCY, "; leave it out for the plan's")
        .describe('Requests in flight at a time, instead of what the plan says')
        .exactOptional(),
    },
    {
      error: (issue) =>
        issue.code === 'unrecognized_keys'
          ? `unknown window ${quote(String(issue.keys[0]))}; limits are minute, day, month and concurrency`
          : `must be an object such as ${LIMITS_EXAMPLE}`,
    },
  )
  .nullable();

/** Scopes of the contract; null for all. */
function scopesIn({ scopes }: Pick<FieldRules, 'scopes'>) {
  const form = `must be a list with one or more of ${scopes.join(', ')} (null for all)`;
  const list = z.array(z.string(form), { error: form }).min(1, form);
  return checked(list, (asked) => {
    const stranger = asked.find((scope) => !scopes.includes(scope));
    if (stranger !== undefined)
      return `there is no scope ${quote(stranger)}; ${suggestion(stranger.slice(0, 64), scopes)}`;
    return new Set(asked).size < asked.length ? 'names a scope twice' : null;
  })
    .nullable()
    .describe('Only these scopes, such as pets:read; null for all');
}

/** Unix ms in the future, from a date or unix ms. @param never another allowed value */
export function momentAfter(nowMs: number, never = '') {
  const error = `must be a date such as "2027-01-31" or "2027-01-31T12:00:00Z", or unix milliseconds${never}`;
  return z.union([z.string(), z.int()], { error }).transform((value, context) => {
    const atMs = parseMoment(value);
    if (atMs === undefined) context.addIssue(error);
    else if (atMs <= nowMs) context.addIssue('must lie in the future');
    return atMs ?? 0;
  });
}

/** The time a key expires; null for never. */
export const expiresAfter = (nowMs: number) =>
  momentAfter(nowMs, ', or null for never').nullable().describe('When it expires; null for never');

/** The fields of a key, whether it is created, changed or imported. */
export const keyFields = (rules: FieldRules) => ({
  plan: planIn(rules).optional(),
  note: note.optional(),
  limits: limits.optional(),
  scopes: scopesIn(rules).optional(),
  expires: expiresAfter(rules.nowMs).optional(),
});

/** Unix ms of a date or of unix ms; undefined if it is neither. */
export function parseMoment(value: unknown): number | undefined {
  const atMs = typeof value === 'string' ? parseDate(value) : value;
  // 8.64e15 is the latest time of a Date.
  return typeof atMs === 'number' && Number.isInteger(atMs) && Math.abs(atMs) <= 8.64e15 ? atMs : undefined;
}

/** Unix ms; NaN for invalid dates such as 31 February, which Date.parse turns into a day in March. */
function parseDate(value: string): number {
  return ISO_DATE.test(value) && isDay(value.slice(0, 10)) ? Date.parse(value) : Number.NaN;
}

/**
 * Returns the own limits of a key on `plan`: the requested ones, or those it had; none if the plan has limits.
 * @param plan undefined if the key's plan is gone from the configuration
 */
export function limitsOn(
  plan: Plan | undefined,
  asked: Limits | null | undefined,
  before: Limits | null,
  costs: Costs,
  problems: string[],
): Limits | null {
  if (plan?.limits === 'custom') {
    const own = asked === undefined ? before : asked;
    if (own === null)
      problems.push(
        `limits: missing, plan "${plan.name}" has custom limits; give units per minute and per day, or "unlimited"`,
      );
    if (asked !== undefined && asked !== null) problems.push(...tooSmall(plan, asked, costs));
    return own;
  }
  if (asked !== undefined && asked !== null)
    problems.push(
      `limits: only for a plan with custom limits; leave it out${plan === undefined ? '' : ` on plan "${plan.name}"`}`,
    );
  return plan === undefined ? before : null;
}

/** Returns a problem for each window that is smaller than an operation's cost. */
function tooSmall(plan: Plan, own: Limits, costs: Costs): readonly string[] {
  const { operation, cost } = dearestOn(plan, costs);
  return tooSmallFor(cost, own).map(
    (per) => `limits: ${per} must be at least ${cost}, the cost of ${operation} on plan "${plan.name}"`,
  );
}

/** Returns what a caller sent, safe to repeat: one line, too short to be a key. */
export function quote(value: string): string {
  return value.length < IMPORTED_MIN_LENGTH
    ? JSON.stringify(value)
    : `${JSON.stringify(`${value.slice(0, 4)}…`)} (${value.length} characters)`;
}
