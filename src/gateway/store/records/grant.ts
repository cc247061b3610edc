import { MAX_LIMIT, type Limit, type Per } from '../../admission/bucket.js';
import type { Terms } from '../../admission/plan.js';
import type { GrantExpiry } from '../../admission/grant-expiries.js';

/** The part of a grant that decisions need: units added to one window until `untilMs` (store ms). */
export interface Extra {
  readonly window: Per;
  readonly units: number;
  readonly untilMs: number;
}

/** A temporary addition to the limit of one window. It expires automatically. */
export interface Grant extends Extra {
  /** The version of the record that added it. */
  readonly id: number;
  readonly note: string;
  /** Who granted it, and when. */
  readonly actor: string;
  readonly atMs: number;
}

/** Maximum per key or customer, without expired ones. */
export const MAX_GRANTS = 16;

export function inForce<T extends Pick<Extra, 'untilMs'>>(grants: readonly T[], nowMs: number): readonly T[] {
  return grants.filter(({ untilMs }) => nowMs < untilMs);
}

/** Returns the terms with the grants at `nowMs`; the same object if there are none. */
export function withGrants(terms: Terms, grants: readonly Extra[] | undefined, nowMs: number): Terms {
  if (grants === undefined || grants.length === 0) return terms;
  const { minute, day, month } = terms.limits;
  const expiries = { minute: expiriesOf(minute, 'minute', grants), day: expiriesOf(day, 'day', grants) };
  const limits = {
    ...terms.limits,
    minute: limitAt(minute, expiries.minute, nowMs),
    day: limitAt(day, expiries.day, nowMs),
  };
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

/** A limit never exceeds MAX_LIMIT, or levels would not be exact. */
function raised(base: number, grants: readonly { readonly units: number }[]): number {
  return Math.min(
    grants.reduce((sum, { units }) => sum + units, base),
    MAX_LIMIT,
  );
}
