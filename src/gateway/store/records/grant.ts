import { MAX_LIMIT, type Limit, type Per } from '../../admission/bucket.js';
import type { Terms } from '../../admission/plan.js';
import type { GrantExpiry } from '../../admission/grant-expiries.js';

/** What a decision needs of a grant: so many units more of one window, while it is not `untilMs` yet (store ms). */
export interface Extra {
  readonly window: Per;
  readonly units: number;
  readonly untilMs: number;
}

/** More of one window for a while, on top of the limit in force. It ends by itself. */
export interface Grant extends Extra {
  /** The version of the record that it came with. */
  readonly id: number;
  readonly note: string;
  /** Who gave it, and when. */
  readonly actor: string;
  readonly atMs: number;
}

/** Of one key or customer, those that are over left out. */
export const MAX_GRANTS = 16;

/** Those that are not over. */
export function inForce<T extends Pick<Extra, 'untilMs'>>(grants: readonly T[], nowMs: number): readonly T[] {
  return grants.filter(({ untilMs }) => nowMs < untilMs);
}

/** The terms with what is granted at `nowMs`; the terms themselves where there are no grants. */
export function withGrants(terms: Terms, grants: readonly Extra[] | undefined, nowMs: number): Terms {
  if (grants === undefined || grants.length === 0) return terms;
  const { minute, day, month } = terms.limits;
  const expiries = { minute: expiriesOf(minute, 'minute', grants), day: expiriesOf(day, 'day', grants) };
  const limits = { minute: limitAt(minute, expiries.minute, nowMs), day: limitAt(day, expiries.day, nowMs) };
  if (month === undefined) return { ...terms, limits, expiries };
  const ofMonth = expiriesOf(month, 'month', grants);
  return {
    ...terms,
    limits: { ...limits, month: limitAt(month, ofMonth, nowMs) },
    expiries: { ...expiries, month: ofMonth },
  };
}

function expiriesOf(base: Limit, per: Per, grants: readonly Extra[]): readonly GrantExpiry[] {
  if (base === 'unlimited') return [];
  const its = grants.filter(({ window }) => window === per).sort((one, other) => one.untilMs - other.untilMs);
  return its.map(({ untilMs, units }) => ({ untilMs, units, after: raised(base, inForce(its, untilMs)) }));
}

function limitAt(base: Limit, expiries: readonly GrantExpiry[], nowMs: number): Limit {
  return base === 'unlimited' ? base : raised(base, inForce(expiries, nowMs));
}

/** No limit is ever more than MAX_LIMIT, or levels would not be exact. */
function raised(base: number, grants: readonly { readonly units: number }[]): number {
  return Math.min(
    grants.reduce((sum, { units }) => sum + units, base),
    MAX_LIMIT,
  );
}
