import type { Limit, Per } from './bucket.js';

/** The end of a grant of some window: what it gave, and the limit from then on. */
export interface End {
  readonly untilMs: number;
  readonly units: number;
  readonly after: Limit;
}

/**
 * The ends of all grants there are by window, in the order of time; those that are over too, until a change forgets
 * them.
 */
export type Ends = Readonly<Partial<Record<Per, readonly End[]>>>;

/** One gateway's part of what is granted. @param partOf of one limit */
export function sharedEnds(ends: Ends, partOf: (limit: Limit) => Limit): Ends {
  const shared = (its: readonly End[] = []): readonly End[] =>
    its.map(({ untilMs, units, after }) => ({ untilMs, units: Number(partOf(units)), after: partOf(after) }));
  return { minute: shared(ends.minute), day: shared(ends.day), month: shared(ends.month) };
}
