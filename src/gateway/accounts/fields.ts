import { MAX_LIMIT } from '../admission/bucket.js';
import type { Limit, Limits } from '../admission/bucket.js';
import { ANONYMOUS_PLAN } from '../admission/plan.js';
import type { Plan, Plans } from '../admission/plan.js';
import { suggestion } from '../../shared/names/nearest.js';
import { dearestOn, tooSmallFor } from './plans/price.js';
import type { Costs } from './plans/price.js';
import { IMPORTED_MIN_LENGTH } from './token.js';

/** What a request may say of a key or a customer, checked. A field left out stays as it is. */
interface KeyFields {
  plan?: string;
  name?: string;
  reference?: string;
  note?: string;
  status?: 'enabled' | 'disabled';
  limits?: Limits | null;
  scopes?: readonly string[] | null;
  expiresAtMs?: number | null;
}

/** What fields are measured by. */
export interface FieldRules {
  readonly plans: Plans;
  /** Every scope the contract knows. */
  readonly scopes: readonly string[];
  readonly nowMs: number;
  /** The plan it has already, which may be retired. */
  readonly has?: string;
}

/** What limits of a key's own are measured by. */
export interface Prices {
  readonly costs: Costs;
}

export type Body = Readonly<Record<string, unknown>>;

const NAME_LENGTH = 100;
const REFERENCE_LENGTH = 100;
const NOTE_LENGTH = 1_000;
const LIMITS_EXAMPLE = '{"minute":5000,"day":"unlimited"}';
// A date without a zone would mean another moment on another machine.
const ISO_DATE = /^\d{4}-\d{2}-\d{2}(?:T\d{2}:\d{2}(?::\d{2}(?:\.\d{1,3})?)?(?:Z|[+-]\d{2}:\d{2}))?$/;

type Reader = (value: unknown, fields: KeyFields, rules: FieldRules) => string | undefined;

/** One reader per field: fills in `fields`, or says what is wrong. */
const READERS: ReadonlyMap<string, Reader> = new Map<string, Reader>([
  ['plan', readPlan],
  ['name', readName],
  ['reference', readReference],
  ['note', readNote],
  ['status', readStatus],
  ['limits', readLimits],
  ['scopes', readScopes],
  ['expires', readExpires],
]);

/** Reads those fields of `body` that are in `allowed`; every problem goes to `problems`, by field name. */
export function readFields(body: Body, allowed: readonly string[], rules: FieldRules, problems: string[]): KeyFields {
  const fields: KeyFields = {};
  problems.push(...unknownFields(body, allowed));
  for (const [field, value] of Object.entries(body)) {
    const problem = allowed.includes(field) ? READERS.get(field)?.(value, fields, rules) : undefined;
    if (problem !== undefined) problems.push(`${field}: ${problem}`);
  }
  return fields;
}

/** A problem for each field of `body` that isn't in `allowed`. */
export function unknownFields(body: Body, allowed: readonly string[]): readonly string[] {
  const strangers = Object.keys(body).filter((field) => !allowed.includes(field));
  return strangers.map((field) => `unknown field ${quote(field)}: ${suggestion(field.slice(0, 64), allowed)}`);
}

/**
 * The own limits of a key on `plan`: asked for, else those it had; none on a plan with limits of its own.
 * @param plan undefined when the key's plan is gone from the configuration
 */
export function limitsOn(
  plan: Plan | undefined,
  asked: Limits | null | undefined,
  before: Limits | null,
  { costs }: Prices,
  problems: string[],
): Limits | null {
  if (plan?.limits === 'custom') {
    const limits = asked === undefined ? before : asked;
    if (limits === null)
      problems.push(`limits: plan "${plan.name}" has none of its own; give its windows, such as ${LIMITS_EXAMPLE}`);
    if (asked !== undefined && asked !== null) problems.push(...tooSmall(plan, asked, costs));
    return limits;
  }
  if (asked !== undefined && asked !== null)
    problems.push(
      `limits: only for a plan with custom limits; leave it out${plan === undefined ? '' : ` on plan "${plan.name}"`}`,
    );
  return plan === undefined ? before : null;
}

/** A problem for each window that an operation could never pass. */
function tooSmall(plan: Plan, limits: Limits, costs: Costs): readonly string[] {
  const { operation, cost } = dearestOn(plan, costs);
  return tooSmallFor(cost, limits).map(
    (per) => `limits: ${per} must be at least ${cost}: so much ${operation} costs on plan "${plan.name}"`,
  );
}

function readPlan(value: unknown, fields: KeyFields, { plans, has }: FieldRules): string | undefined {
  const names = [...plans.values()].flatMap(({ name, retired }) =>
    name === ANONYMOUS_PLAN || retired === true ? [] : name,
  );
  if (typeof value !== 'string') return `must be a plan's name: ${names.join(', ')}`;
  if (value === ANONYMOUS_PLAN)
    return `"${ANONYMOUS_PLAN}" is for callers without a key; choose one of ${names.join(', ')}`;
  if (!plans.has(value)) return `there is no plan ${quote(value)}; ${suggestion(value.slice(0, 64), names)}`;
  if (plans.get(value)!.retired === true && value !== has)
    return `plan ${quote(value)} is retired: who has it keeps it, and nobody else gets it; choose one of ${names.join(', ')}`;
  fields.plan = value;
  return undefined;
}

function readName(value: unknown, fields: KeyFields): string | undefined {
  if (typeof value !== 'string' || value.trim() === '') return `must be a text of 1 to ${NAME_LENGTH} characters`;
  const problem = textProblem(value, NAME_LENGTH);
  if (problem === undefined) fields.name = value;
  return problem;
}

function readReference(value: unknown, fields: KeyFields): string | undefined {
  const problem = referenceProblem(value);
  if (problem === undefined) fields.reference = String(value);
  return problem;
}

/** Why this can't be a reference; undefined where it can. */
export function referenceProblem(value: unknown): string | undefined {
  return textProblem(value, REFERENCE_LENGTH);
}

function readNote(value: unknown, fields: KeyFields): string | undefined {
  const problem = noteProblem(value);
  if (problem === undefined) fields.note = String(value);
  return problem;
}

/** Why this can't be a note; undefined where it can. */
export function noteProblem(value: unknown): string | undefined {
  return textProblem(value, NOTE_LENGTH);
}

function textProblem(value: unknown, length: number): string | undefined {
  if (typeof value !== 'string') return `must be a text of at most ${length} characters`;
  if (value.length > length) return `at most ${length} characters, this has ${value.length}`;
  if (/\p{Cc}|\p{Cs}/u.test(value)) return 'no control characters and no broken surrogates';
  // Names are shown in lists and logs, where a key or a token must never stand.
  if (/pt[ga]_/.test(value)) return 'must not hold a key or a token';
  return undefined;
}

function readStatus(value: unknown, fields: KeyFields): string | undefined {
  if (value === 'revoked') return 'revoke a key with DELETE; it is final';
  if (value !== 'enabled' && value !== 'disabled') return 'must be "enabled" or "disabled"';
  fields.status = value;
  return undefined;
}

function readLimits(value: unknown, fields: KeyFields): string | undefined {
  if (value === null) {
    fields.limits = null;
    return undefined;
  }
  if (typeof value !== 'object' || Array.isArray(value)) return `must be an object such as ${LIMITS_EXAMPLE}`;
  const windows = new Map<string, unknown>(Object.entries(value));
  const stranger = [...windows.keys()].find((window) => window !== 'minute' && window !== 'day' && window !== 'month');
  if (stranger !== undefined) return `unknown window ${quote(stranger)}; the windows are minute, day and month`;
  const minute = windows.get('minute');
  const day = windows.get('day');
  if (!isLimit(minute)) return `minute must be a whole number from 1 to ${MAX_LIMIT}, or "unlimited"`;
  if (!isLimit(day)) return `day must be a whole number from 1 to ${MAX_LIMIT}, or "unlimited"`;
  if (!windows.has('month')) {
    fields.limits = { minute, day };
    return undefined;
  }
  const month = windows.get('month');
  if (!isLimit(month))
    return `month must be a whole number from 1 to ${MAX_LIMIT}, or "unlimited"; leave it out for none`;
  fields.limits = { minute, day, month };
  return undefined;
}

function isLimit(value: unknown): value is Limit {
  return value === 'unlimited' || (Number.isInteger(value) && Number(value) >= 1 && Number(value) <= MAX_LIMIT);
}

function readScopes(value: unknown, fields: KeyFields, { scopes }: FieldRules): string | undefined {
  if (value === null) {
    fields.scopes = null;
    return undefined;
  }
  const known = `${scopes.join(', ')} (null for all)`;
  if (!Array.isArray(value) || value.length === 0) return `must be a list with one or more of ${known}`;
  const list: readonly unknown[] = value;
  const asked = list.filter((scope): scope is string => typeof scope === 'string');
  if (asked.length < list.length) return `must be a list with one or more of ${known}`;
  const stranger = asked.find((scope) => !scopes.includes(scope));
  if (stranger !== undefined)
    return `there is no scope ${quote(stranger)}; ${suggestion(stranger.slice(0, 64), scopes)}`;
  if (new Set(asked).size < asked.length) return 'names a scope twice';
  fields.scopes = asked;
  return undefined;
}

function readExpires(value: unknown, fields: KeyFields, { nowMs }: FieldRules): string | undefined {
  if (value === null) {
    fields.expiresAtMs = null;
    return undefined;
  }
  const atMs = parseMoment(value);
  if (atMs === undefined) {
    return 'must be a date such as "2027-01-31" or "2027-01-31T12:00:00Z", unix milliseconds, or null for never';
  }
  if (atMs <= nowMs) return 'must lie in the future';
  fields.expiresAtMs = atMs;
  return undefined;
}

/** Unix ms of a date, or of unix ms themselves; undefined of what is neither. */
export function parseMoment(value: unknown): number | undefined {
  const atMs = typeof value === 'string' ? parseDate(value) : value;
  // 8.64e15 is the last moment a Date can hold.
  return typeof atMs === 'number' && Number.isInteger(atMs) && Math.abs(atMs) <= 8.64e15 ? atMs : undefined;
}

/** Unix ms; NaN for what is no date, such as 31 February, which Date.parse takes for a day in March. */
function parseDate(text: string): number {
  if (!ISO_DATE.test(text)) return Number.NaN;
  const day = text.slice(0, 10);
  const dayMs = Date.parse(day);
  return Number.isNaN(dayMs) || !new Date(dayMs).toISOString().startsWith(day) ? Number.NaN : Date.parse(text);
}

/** What a caller sent, fit to be repeated: one line, and too short to be a key of any form. */
export function quote(value: string): string {
  return value.length < IMPORTED_MIN_LENGTH
    ? JSON.stringify(value)
    : `${JSON.stringify(`${value.slice(0, 4)}…`)} (${value.length} characters)`;
}
