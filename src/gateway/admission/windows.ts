import { settle, SHAPES, windowStartMs } from './bucket.js';
import type { BucketState, Limit, Limits, Per, Refill } from './bucket.js';

/**
 * Windows beside minute and day, which every key has: the month, and those of single operations. Few plans have
 * any, so that all of this stands behind one question, `hasMore`.
 */
export interface Window {
  /** `month`, or the operation's id and what it counts per: `createPet-minute`. */
  readonly name: string;
  readonly per: Per;
  readonly limit: Limit;
}

/** What a plan says of one operation. */
export interface OperationTerms {
  /** Units that a request takes of each window; null where the contract says it. */
  readonly cost: number | null;
  readonly windows: readonly Window[];
}
export type OperationsTerms = ReadonlyMap<string, OperationTerms>;

/** In place of an operation's id, of a request that costs nothing: shows the windows of all. */
export const EVERY_OPERATION = '*';

/** A window that holds for a request, with what was spent of it. */
export interface HeldWindow extends Window {
  readonly refill: Refill;
  readonly bucket: BucketState;
}

/** Terms with windows, or prices, of their own. */
interface Priced {
  readonly limits: Limits;
  readonly refill: Refill;
  readonly operations?: OperationsTerms | undefined;
}

const NO_WINDOWS: readonly Window[] = [];
const NONE_HELD: readonly HeldWindow[] = [];

/** What a plan file says of operations, as admission wants it; undefined when it says nothing. */
export function operationTerms(
  operations: Readonly<
    Record<string, { readonly cost?: number | undefined } & Partial<Record<Per, Limit | undefined>>>
  >,
): OperationsTerms | undefined {
  const terms = new Map<string, OperationTerms>();
  for (const [id, { cost = null, ...limits }] of Object.entries(operations)) {
    const windows = (['minute', 'day', 'month'] as const).flatMap((per) => {
      const limit = limits[per];
      return limit === undefined ? [] : [{ name: `${id}-${per}`, per, limit }];
    });
    terms.set(id, { cost, windows });
  }
  if (terms.size === 0) return undefined;
  return terms.set(EVERY_OPERATION, { cost: null, windows: [...terms.values()].flatMap(({ windows }) => windows) });
}

export function hasMore({ limits, operations }: Pick<Priced, 'limits' | 'operations'>): boolean {
  return limits.month !== undefined || operations !== undefined;
}

/** What a request costs under these terms: nothing, where the contract says so. */
export function costOf(operations: OperationsTerms | undefined, operation: string, cost: number): number {
  return cost === 0 || operations === undefined ? cost : (operations.get(operation)?.cost ?? cost);
}

/** The windows that hold for an operation beside minute and day. */
export function windowsOf(
  { limits, operations }: Pick<Priced, 'limits' | 'operations'>,
  operation: string,
): readonly Window[] {
  const own = operations?.get(operation)?.windows ?? NO_WINDOWS;
  return limits.month === undefined ? own : [{ name: 'month', per: 'month', limit: limits.month }, ...own];
}

/** The same with the buckets of a subject, new ones among them. */
export function heldOf(
  state: { readonly month: BucketState; more: Map<string, BucketState> | null },
  terms: Priced,
  operation: string,
): readonly HeldWindow[] {
  if (!hasMore(terms)) return NONE_HELD;
  const windows = windowsOf(terms, operation);
  if (windows.length === 0) return NONE_HELD;
  return windows.map((window) => {
    let bucket = window.name === 'month' ? state.month : state.more?.get(window.name);
    if (bucket === undefined)
      (state.more ??= new Map<string, BucketState>()).set(window.name, (bucket = { level: 0, atMs: 0 }));
    return { ...window, refill: refillOf(window.per, terms.refill), bucket };
  });
}

/** A month comes back as a whole, on every plan. */
export function refillOf(per: Per, refill: Refill): Refill {
  return per === 'month' ? 'interval' : refill;
}

/** Brings a window up to `nowMs`. One that was not asked for a whole period is whole, also one that trickles. */
export function settleWindow({ per, limit, refill, bucket }: HeldWindow, nowMs: number): void {
  const shape = SHAPES[per];
  if (per !== 'month' && nowMs - bucket.atMs >= shape.perMs) bucket.level = 0;
  settle(bucket, shape, limit, refill, nowMs);
}

/**
 * Forgets windows that say no more than none would: so a subject has as many as its plan, and some of the one before.
 */
export function closeWindows(state: { more: Map<string, BucketState> | null }, nowMs: number): void {
  if (state.more === null) return;
  for (const [name, bucket] of state.more) if (isWindowOver(name, bucket, nowMs)) state.more.delete(name);
  if (state.more.size === 0) state.more = null;
}

/** Whether nothing is spent of a window at `nowMs`, whatever its limit is by then. */
export function isWindowOver(name: string, { level, atMs }: BucketState, nowMs: number): boolean {
  const shape = SHAPES[perOf(name)];
  return level === 0 || (shape.per === 'month' ? atMs < windowStartMs(shape, nowMs) : nowMs - atMs >= shape.perMs);
}

/** What the window of this name counts per. */
function perOf(name: string): Per {
  if (name.endsWith('month')) return 'month';
  return name.endsWith('day') ? 'day' : 'minute';
}
