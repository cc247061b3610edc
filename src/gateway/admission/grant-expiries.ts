import type { Limit, Per } from './bucket.js';

/** The end of a grant of some window: what it gave, and the limit from then on. */
export interface GrantExpiry {
  readonly untilMs: number;
  readonly units: number;
  readonly after: Limit;
}

/**
 * The ends of all grants there are by window, in the order of time; those that are over too, until a change forgets
 * them.
 */
export type GrantExpiries = Readonly<Partial<Record<Per, readonly GrantExpiry[]>>>;

/** One gateway's part of what is granted. @param partOf of one limit */
export function sharedExpiries(expiries: GrantExpiries, partOf: (limit: Limit) => Limit): GrantExpiries {
  const shared = (its: readonly GrantExpiry[] = []): readonly GrantExpiry[] =>
    its.map(({ untilMs, units, after }) => ({ untilMs, units: Number(partOf(units)), after: partOf(after) }));
  return { minute: shared(expiries.minute), day: shared(expiries.day), month: shared(expiries.month) };
}
