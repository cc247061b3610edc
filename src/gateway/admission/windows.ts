import { settle, SHAPES, windowStartMs } from './bucket.js';
import type { BucketState, Limit, Limits, Per, Refill } from './bucket.js';

/** What was spent in each window. */
export interface Buckets {
  readonly minute: BucketState;
  readonly day: BucketState;
  /** Counted even if the plan has no month, so that a plan with one finds it correct. */
  readonly month: BucketState;
  /** Windows of single operations and the balance, by name; null if there are none. */
  operationWindows: Map<string, BucketState> | null;
}

/** A window that requests are charged to. */
export interface Window {
  /** `minute`, `day`, `month`, `balance`, or operation and period: `createPet-minute`. */
  readonly name: string;
  readonly per: Per;
  readonly limit: Limit;
}

/** A plan's terms for one operation. */
export interface OperationTerms {
  /** Cost in units; null for the contract's. */
  readonly cost: number | null;
  readonly windows: readonly Window[];
}
export type OperationsTerms = ReadonlyMap<string, OperationTerms>;

/** In a peek, in place of an operation ID: the windows of all operations. */
export const EVERY_OPERATION = '*';

/** A window of a request, with what was spent in it. */
export interface HeldWindow extends Window {
  readonly refill: Refill;
  readonly bucket: BucketState;
}

/** Terms with windows or costs of single operations. */
interface Priced {
  readonly limits: Limits;
  readonly refill: Refill;
  readonly operations?: OperationsTerms | undefined;
}

const NO_WINDOWS: readonly Window[] = [];

/** Converts the operations of a plans file for admission; undefined if there are none. */
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

/** Returns the cost of a request under these terms; always 0 if the contract says 0. */
export function costOf(operations: OperationsTerms | undefined, operation: string, cost: number): number {
  return cost === 0 || operations === undefined ? cost : (operations.get(operation)?.cost ?? cost);
}

/** Returns all windows of an operation except minute and day; the balance comes last. */
export function windowsOf(
  { limits, operations }: Pick<Priced, 'limits' | 'operations'>,
  operation: string,
): readonly Window[] {
  const { month, balance } = limits;
  const own = operations?.get(operation)?.windows ?? NO_WINDOWS;
  const all = month === undefined ? own : [{ name: 'month', per: 'month', limit: month } as const, ...own];
  return balance === undefined ? all : [...all, { name: 'balance', per: 'balance', limit: balance }];
}

/** Returns all windows of an operation, with what is spent in each: minute and day first. */
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
  if (limits.month === undefined && limits.balance === undefined && terms.operations === undefined) return held;
  for (const window of windowsOf(terms, operation)) {
    const { name, per, limit } = window;
    held.push({ name, per, limit, refill: refillOf(per, refill), bucket: bucketOf(window) });
  }
  return held;
}

/** Returns `heldOf` with the subject's buckets; creates those it lacks. */
export function heldBy(buckets: Buckets, terms: Priced, operation: string): readonly HeldWindow[] {
  return heldOf(buckets, terms, operation, ({ name }) => {
    if (name === 'month') return buckets.month;
    const windows = (buckets.operationWindows ??= new Map<string, BucketState>());
    const bucket = windows.get(name) ?? { level: 0, atMs: 0 };
    windows.set(name, bucket);
    return bucket;
  });
}

/** Returns the refill of a window: on every plan, a month refills at its end, and a balance never. */
export function refillOf(per: Per, refill: Refill): Refill {
  return per === 'month' || per === 'balance' ? 'interval' : refill;
}

/**
 * Brings a window up to `nowMs`. An operation's window is full after a whole period without requests, with greedy
 * refill too.
 */
export function settleWindow({ name, per, limit, refill, bucket }: HeldWindow, nowMs: number): void {
  const shape = SHAPES[per];
  if (name !== per && per !== 'month' && nowMs - bucket.atMs >= shape.perMs) bucket.level = 0;
  settle(bucket, shape, limit, refill, nowMs);
}

/** Drops the windows of operations in which nothing is spent, including those of an earlier plan. */
export function closeWindows(buckets: Buckets, nowMs: number): void {
  const windows = buckets.operationWindows;
  if (windows === null) return;
  for (const [name, bucket] of windows) if (isWindowOver(name, bucket, nowMs)) windows.delete(name);
  if (windows.size === 0) buckets.operationWindows = null;
}

/** Returns whether nothing is spent in a window at `nowMs`, whatever its limit. */
export function isWindowOver(name: string, { level, atMs }: BucketState, nowMs: number): boolean {
  const shape = SHAPES[perOf(name)];
  return level === 0 || (shape.per === 'month' ? atMs < windowStartMs(shape, nowMs) : nowMs - atMs >= shape.perMs);
}

/** Returns the period of a window by its name: `day` for `createPet-day`. */
export function perOf(name: string): Per {
  if (name === 'balance') return 'balance';
  if (name.endsWith('month')) return 'month';
  return name.endsWith('day') ? 'day' : 'minute';
}
