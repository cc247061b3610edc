import { z } from 'zod';
import { MAX_LIMIT, type Per } from '../admission/bucket.js';
import { inForce, MAX_GRANTS, withGrants } from '../store/records/grant.js';
import { termsOf, type Plans } from '../admission/plan.js';
import { whole } from '../config/schema/values.js';
import type { Account, Change } from './edits.js';
import { momentAfter, note, readFields, type Body } from './fields.js';
import { KeyRefused } from './refused.js';

const WINDOWS = ['minute', 'day', 'month'] as const satisfies readonly Per[];
const grantWindow = z.enum(WINDOWS, `must be one of ${WINDOWS.join(', ')}`);
const grantUnits = whole(1, MAX_LIMIT);

/** The body that adds to one window. */
export const newGrant = (nowMs: number) => ({
  window: grantWindow.describe('Which window'),
  units: grantUnits.describe('How many units more'),
  until: momentAfter(nowMs).describe('When it ends'),
  note: note.optional(),
});

/** Returns the record with the grant. Throws KeyRefused. @param body `{window, units, until, note?}` */
export function granted<R extends Account>(
  record: R,
  body: Body,
  plans: Plans,
  nowMs: number,
  actor: string,
): Change<R> {
  const problems: string[] = [];
  const { window = 'day', units = 1, until: untilMs = 0, note = '' } = readFields(body, newGrant(nowMs), problems);
  if (problems.length === 0) problems.push(...problemsOn(record, plans, window, units, nowMs));
  if (problems.length > 0) throw new KeyRefused('invalid', problems);
  const held = inForce(record.grants ?? [], nowMs);
  if (held.length >= MAX_GRANTS)
    throw new KeyRefused('conflict', [
      `${MAX_GRANTS} grants are in force, the most there can be: withdraw one, or change the limit itself`,
    ]);
  const id = record.version + 1;
  const until = new Date(untilMs).toISOString();
  return {
    next: { ...record, grants: [...held, { id, window, units, untilMs, note, actor, atMs: nowMs }] },
    action: 'granted',
    changed: { grant: id, window, units, until, ...(note === '' ? {} : { note }) },
  };
}

/** Returns the record without this grant. Throws KeyRefused if it is not in force. */
export function withdrawn<R extends Account>(record: R, number: string, nowMs: number): Change<R> {
  const held = inForce(record.grants ?? [], nowMs);
  const grant = held.find(({ id }) => id.toString() === number);
  if (grant === undefined)
    throw new KeyRefused('no_grant', ['no grant with this number is in force; petgate keys grants lists them']);
  const { id, window, units } = grant;
  return {
    next: { ...record, grants: held.filter((each) => each !== grant) },
    action: 'withdrawn',
    changed: { grant: id, window, units },
  };
}

/** Returns the record without expired grants; the same object if there are none. */
export function withoutPast<R extends Account>(record: R, nowMs: number): R {
  const { grants } = record;
  if (grants === undefined) return record;
  const held = inForce(grants, nowMs);
  return held.length === grants.length ? record : { ...record, grants: held };
}

/** Returns why the units can't be added; empty if they can. */
function problemsOn(
  { plan, limits, grants }: Account,
  plans: Plans,
  window: Per,
  units: number,
  nowMs: number,
): readonly string[] {
  const terms = termsOf(plans, plan, limits);
  if (terms === undefined) return [`window: the plan "${plan}" is gone, so there is no limit to add to`];
  const limit = withGrants(terms, grants, nowMs).limits[window];
  if (limit === undefined) return [`window: plan "${plan}" counts no ${window}, so there is no limit to add to`];
  if (limit === 'unlimited') return [`window: the ${window} is unlimited on plan "${plan}": there is nothing to add`];
  if (limit + units > MAX_LIMIT)
    return [`units: the limit is ${limit}, and ${MAX_LIMIT} is the most: grant at most ${MAX_LIMIT - limit}`];
  return [];
}
