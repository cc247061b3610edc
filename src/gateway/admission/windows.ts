import { settle, SHAPES, windowStartMs } from './bucket.js';
import type { BucketState, Limit, Limits, Per, Refill } from './bucket.js';

/** What was spent of each window. */
export interface Buckets {
  readonly minute: BucketState;
  readonly day: BucketState;
  /** Counted whether the plan has a month or not, so that it is right as soon as one has. */
  readonly month: BucketState;
  /** Those of operations' own windows by name; null without any. */
  operationWindows: Map<string, BucketState> | null;
}

/** A window that requests take from. */
export interface Window {
  /** `minute`, `day`, `month`, or the operation's id and what it counts per: `createPet-minute`. */
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

/** All windows that hold for an operation, with what is spent of each: minute and day first. */
export function heldOf(
  { minute, day }: Pick<Buckets, 'minute' | 'day'>,
  terms: Priced,
  operation: string,
  bucketOf: (window: Window) => BucketState,
): readonly HeldWindow[] {
  const { limits, refill } = terms;
  const held: HeldWindow[] = [
    { name: 'minute', per: 'minute', limit: limits.minute, refill, bucket: minute },
    { name: 'day', per: 'day', limit: limits.day, refill, bucket: day },
  ];
  if (limits.month === undefined && terms.operations === undefined) return held;
  for (const window of windowsOf(terms, operation)) {
    const { name, per, limit } = window;
    held.push({ name, per, limit, refill: refillOf(per, refill), bucket: bucketOf(window) });
  }
  return held;
}

/** The same with the buckets of a subject, new ones among them. */
export function heldBy(buckets: Buckets, terms: Priced, operation: string): readonly HeldWindow[] {
  return heldOf(buckets, terms, operation, ({ name }) => {
    if (name === 'month') return buckets.month;
    const windows = (buckets.operationWindows ??= new Map<string, BucketState>());
    const bucket = windows.get(name) ?? { level: 0, atMs: 0 };
    windows.set(name, bucket);
    return bucket;
  });
}

/** A month comes back as a whole, on every plan. */
export function refillOf(per: Per, refill: Refill): Refill {
  return per === 'month' ? 'interval' : refill;
}

/**
 * Brings a window up to `nowMs`. An operation's that was not asked for a whole period is whole, also one that trickles.
 */
export function settleWindow({ name, per, limit, refill, bucket }: HeldWindow, nowMs: number): void {
  const shape = SHAPES[per];
  if (name !== per && per !== 'month' && nowMs - bucket.atMs >= shape.perMs) bucket.level = 0;
  settle(bucket, shape, limit, refill, nowMs);
}

/**
 * Forgets windows that say no more than none would: so a subject has as many as its plan, and some of the one before.
 */
export function closeWindows(buckets: Buckets, nowMs: number): void {
  const windows = buckets.operationWindows;
  if (windows === null) return;
  for (const [name, bucket] of windows) if (isWindowOver(name, bucket, nowMs)) windows.delete(name);
  if (windows.size === 0) buckets.operationWindows = null;
}

/** Whether nothing is spent of a window at `nowMs`, whatever its limit is by then. */
export function isWindowOver(name: string, { level, atMs }: BucketState, nowMs: number): boolean {
  const shape = SHAPES[perOf(name)];
  return level === 0 || (shape.per === 'month' ? atMs < windowStartMs(shape, nowMs) : nowMs - atMs >= shape.perMs);
}

/** What the window of this name counts per. */
export function perOf(name: string): Per {
  if (name.endsWith('month')) return 'month';
  return name.endsWith('day') ? 'day' : 'minute';
}
