import { MAX_LIMIT } from '../admission/bucket.js';
import type { Limits, Per } from '../admission/bucket.js';
import { inForce, MOST_GRANTS, withGrants } from '../store/records/grant.js';
import type { Grant } from '../store/records/grant.js';
import { termsOf } from '../admission/plan.js';
import type { Plans } from '../admission/plan.js';
import type { Change } from './edits.js';
import { noteProblem, parseMoment, unknownFields } from './fields.js';
import type { Body } from './fields.js';
import { KeyRefused } from './refused.js';

/** What of a key or a customer grants are about. */
interface Granted {
  readonly plan: string;
  readonly limits: Limits | null;
  readonly grants?: readonly Grant[];
  readonly version: number;
}

const WINDOWS: readonly Per[] = ['minute', 'day', 'month'];
const FIELDS = ['window', 'units', 'until', 'note'];

/**
 * The record with more of one window. Throws KeyRefused.
 * @param body `{window, units, until, note?}`
 */
export function granted<R extends Granted>(
  record: R,
  body: Body,
  plans: Plans,
  nowMs: number,
  actor: string,
): Change<R> {
  const problems: string[] = [...unknownFields(body, FIELDS)];
  const { window, units, untilMs, note } = readGrant(body, nowMs, problems);
  if (problems.length === 0) problems.push(...problemsOn(record, plans, window, units, nowMs));
  if (problems.length > 0) throw new KeyRefused('invalid', problems);
  const held = inForce(record.grants ?? [], nowMs);
  if (held.length >= MOST_GRANTS)
    throw new KeyRefused('conflict', [
      `there are ${MOST_GRANTS} grants in force, and that is the most: withdraw one, or change the limit itself`,
    ]);
  const id = record.version + 1;
  const until = new Date(untilMs).toISOString();
  return {
    next: { ...record, grants: [...held, { id, window, units, untilMs, note, actor, atMs: nowMs }] },
    action: 'granted',
    changed: { grant: id, window, units, until, ...(note === '' ? {} : { note }) },
  };
}

/** The record without the grant of this number. Throws KeyRefused when none is in force. */
export function withdrawn<R extends Granted>(record: R, number: string, nowMs: number): Change<R> {
  const held = inForce(record.grants ?? [], nowMs);
  const grant = held.find(({ id }) => id.toString() === number);
  if (grant === undefined)
    throw new KeyRefused('no_grant', ['no grant of this number is in force; petgate keys grants lists them']);
  const { id, window, units } = grant;
  return {
    next: { ...record, grants: held.filter((each) => each !== grant) },
    action: 'withdrawn',
    changed: { grant: id, window, units },
  };
}

/** The record without grants that are over; itself where there are none. */
export function withoutPast<R extends Pick<Granted, 'grants'>>(record: R, nowMs: number): R {
  const { grants } = record;
  if (grants === undefined) return record;
  const held = inForce(grants, nowMs);
  return held.length === grants.length ? record : { ...record, grants: held };
}

function readGrant(
  body: Body,
  nowMs: number,
  problems: string[],
): Pick<Grant, 'window' | 'units' | 'untilMs' | 'note'> {
  const { window: asked, units, until, note = '' } = body as Readonly<Record<keyof Grant | 'until', unknown>>;
  const window = WINDOWS.find((one) => one === asked);
  if (window === undefined) problems.push(`window: must be one of ${WINDOWS.join(', ')}`);
  const isNumber = typeof units === 'number' && Number.isInteger(units) && units >= 1 && units <= MAX_LIMIT;
  if (!isNumber) problems.push(`units: must be a whole number from 1 to ${MAX_LIMIT}`);
  const untilMs = parseMoment(until);
  if (untilMs === undefined)
    problems.push('until: must be a date such as "2027-01-31" or "2027-01-31T12:00:00Z", or unix milliseconds');
  else if (untilMs <= nowMs) problems.push('until: must lie in the future');
  const problem = noteProblem(note);
  if (problem !== undefined) problems.push(`note: ${problem}`);
  return {
    window: window ?? 'day',
    units: isNumber ? units : 1,
    untilMs: untilMs ?? 0,
    note: typeof note === 'string' ? note : '',
  };
}

/** Why there is nothing to be added to; empty where there is. */
function problemsOn(
  { plan, limits, grants }: Granted,
  plans: Plans,
  window: Per,
  units: number,
  nowMs: number,
): readonly string[] {
  const terms = termsOf(plans, plan, limits);
  if (terms === undefined) return [`window: the plan "${plan}" is gone, so that there is no limit to add to`];
  const limit = withGrants(terms, grants, nowMs).limits[window];
  if (limit === undefined) return [`window: plan "${plan}" counts no ${window}, so that there is no limit to add to`];
  if (limit === 'unlimited') return [`window: the ${window} is unlimited on plan "${plan}": there is nothing to add`];
  if (limit + units > MAX_LIMIT)
    return [`units: the limit is ${limit}, and ${MAX_LIMIT} is the most: grant at most ${MAX_LIMIT - limit}`];
  return [];
}
