import type { Limit, Per } from './bucket.js';

/** The end of a window's grant: what it added, and the limit afterwards. */
export interface GrantExpiry {
  readonly untilMs: number;
  readonly units: number;
  readonly after: Limit;
}

/** The ends of all grants by window, in order of time. Past ones stay until the record changes. */
export type GrantExpiries = Readonly<Partial<Record<Per, readonly GrantExpiry[]>>>;

/** Returns one gateway's share of the grants. @param partOf returns its share of a limit */
export function sharedExpiries(expiries: GrantExpiries, partOf: (limit: Limit) => Limit): GrantExpiries {
  const shared = (its: readonly GrantExpiry[] = []): readonly GrantExpiry[] =>
    its.map(({ untilMs, units, after }) => ({ untilMs, units: Number(partOf(units)), after: partOf(after) }));
  return { minute: shared(expiries.minute), day: shared(expiries.day), month: shared(expiries.month) };
}
