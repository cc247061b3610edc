import { SHAPES, spend, windowStartMs, type BucketShape, type BucketState, type Per } from './bucket.js';
import type { StandingVerdict } from './verdict.js';
import type { Buckets } from './windows.js';

/** A window that a hold was taken from, with what tells whether it is still the same one. */
export interface HeldFrom {
  /** `minute`, `day`, `month`, or the name of an operation's window. */
  readonly name: string;
  readonly per: Per;
  /** When it began, store ms; with greedy refill, when the hold was taken. */
  readonly sinceMs: number;
  /** Units that come back per period with greedy refill; 0 for a window that is refilled at its end. */
  readonly refill: number;
}

/** A change of one window. */
interface WindowChange {
  readonly window: HeldFrom;
  /** Units to charge; below 0, to give back. */
  readonly units: number;
}

/** Returns the windows that an admission took its hold from: a month is counted on every plan. */
export function windowsOfHold({ windows, atMs }: StandingVerdict): readonly HeldFrom[] {
  const held: HeldFrom[] = [{ name: 'month', per: 'month', sinceMs: windowStartMs(SHAPES.month, atMs), refill: 0 }];
  for (const { name, per, limit, resetAtMs, nextAtMs } of windows) {
    if (name === 'month') continue;
    // Only greedy refill has a next unit before the reset.
    const refill = nextAtMs === undefined || limit === 'unlimited' ? 0 : limit;
    const startMs = per === 'minute' ? resetAtMs - SHAPES.minute.perMs : windowStartMs(SHAPES[per], atMs);
    held.push({ name, per, sinceMs: refill > 0 ? atMs : startMs, refill });
  }
  return held;
}

/** Returns the changes of all settlements, one for each window: 5 of 60 returned and 2 beyond a hold are 3 returned. */
export function changesOf(
  settlements: readonly { readonly units: number; readonly windows: readonly HeldFrom[] }[],
): readonly WindowChange[] {
  const [first, ...others] = settlements;
  // Most reports have one, and naming its windows would take longer than all else.
  if (first !== undefined && others.length === 0)
    return first.windows.map((window) => ({ window, units: first.units }));
  const changes = new Map<string, WindowChange>();
  for (const { units, windows } of settlements)
    for (const window of windows) {
      const name = `${window.name} ${window.sinceMs} ${window.refill}`;
      changes.set(name, { window, units: units + (changes.get(name)?.units ?? 0) });
    }
  return [...changes.values()];
}

/**
 * Charges or gives back units in each window that is still the one that the hold was taken from. The script
 * `ledger/settle.lua` does the same.
 */
export function applyChanges(buckets: Buckets, changes: readonly WindowChange[]): void {
  for (const change of changes) {
    const { window, units } = change;
    const { name, per, sinceMs, refill } = window;
    const shape = SHAPES[per];
    const bucket = bucketOf(buckets, name);
    if (bucket === undefined || bucket.level === 0) {
      // All of the hold was refilled. What comes on top is charged as if it had been part of it.
      if (refill > 0 && units > 0) spend(opened(buckets, name, sinceMs), shape, units);
    } else if (units > 0) {
      if (refill > 0 || startOf(bucket, per) === sinceMs) spend(bucket, shape, units);
    } else if (refill > 0) {
      // What was refilled since may have been part of the hold, so it is not given back again.
      giveBack(bucket, shape, -units * shape.parts - refill * Math.max(0, bucket.atMs - sinceMs));
    } else if (startOf(bucket, per) === sinceMs) giveBack(bucket, shape, -units * shape.parts);
  }
}

function bucketOf({ minute, day, month, operationWindows }: Buckets, name: string): BucketState | undefined {
  return { minute, day, month }[name] ?? operationWindows?.get(name);
}

/** Returns the bucket of a window with nothing spent, as of `atMs`. */
function opened(buckets: Buckets, name: string, atMs: number): BucketState {
  const bucket = bucketOf(buckets, name) ?? { level: 0, atMs };
  bucket.atMs = atMs;
  if (bucketOf(buckets, name) === undefined) (buckets.operationWindows ??= new Map()).set(name, bucket);
  return bucket;
}

function startOf({ atMs }: BucketState, per: Per): number {
  return per === 'minute' ? atMs : windowStartMs(SHAPES[per], atMs);
}

/** Not at the ceiling: there it is unknown how much more was spent. */
function giveBack(bucket: BucketState, { ceiling }: BucketShape, back: number): void {
  if (back > 0 && bucket.level < ceiling) bucket.level -= Math.min(bucket.level, back);
}
