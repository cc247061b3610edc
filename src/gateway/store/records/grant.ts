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
  const [limits, expiries]: [Partial<Record<Per, Limit>>, Partial<Record<Per, readonly GrantExpiry[]>>] = [{}, {}];
  for (const per of ['minute', 'day', 'month'] as const) {
    const base = terms.limits[per];
    if (base === undefined) continue;
    expiries[per] = expiriesOf(base, per, grants);
    limits[per] = base === 'unlimited' ? base : raised(base, inForce(expiries[per], nowMs));
  }
  return { ...terms, limits: { ...terms.limits, ...limits }, expiries };
}

function expiriesOf(base: Limit, per: Per, grants: readonly Extra[]): readonly GrantExpiry[] {
  if (base === 'unlimited') return [];
  const its = grants.filter(({ window }) => window === per).sort((one, other) => one.untilMs - other.untilMs);
  return its.map(({ untilMs, units }) => ({ untilMs, units, after: raised(base, inForce(its, untilMs)) }));
}

/** A limit never exceeds MAX_LIMIT, or levels would not be exact. */
function raised(base: number, grants: readonly { readonly units: number }[]): number {
  return Math.min(
    grants.reduce((sum, { units }) => sum + units, base),
    MAX_LIMIT,
  );
}
