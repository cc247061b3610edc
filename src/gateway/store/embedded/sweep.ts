import { LONGEST_MONTH_MS } from '../../../shared/utc-month.js';
import { DAY_MS, type BucketState, type Limit } from '../../admission/bucket.js';
import { ANONYMOUS_PLAN, BAN_MEMORY_MS, termsOf, type Plans, type Terms } from '../../admission/plan.js';
import { isWindowOver } from '../../admission/windows.js';
import { isBanOver } from './records/bans.js';
import { dayNumber, dayOf } from '../../../shared/utc-day.js';
import { AFTER_ALL, rangeOf } from './files/rows.js';
import type { Store } from './files/database.js';
import type { Stores } from './owner/stores.js';
import { unpackState } from '../state.js';
import { areMarksOver } from './journal/pending.js';
import { inTransaction } from './files/errors.js';

/** A subject not seen for this long is deleted once its greedy buckets are full: a fresh one equals it. */
const FORGET_AFTER_MS = 2 * DAY_MS;
/** How long a bucket must have been full: a clock may step back. */
const FULL_FOR_MS = DAY_MS;
/** The slowest refill of a key, one unit per window: its terms may change at any time. */
const LEAST: Pick<Terms, 'limits' | 'refill'> = { limits: { minute: 1, day: 1 }, refill: 'greedy' };
/** Marks of crossings are kept until any month has ended. */
const MARKED_MS = LONGEST_MONTH_MS;
/** The ledger's age counts from its seventh newest day if that is before now: the clock may be ahead. */
const WITNESS_DAYS = 7;
/** Rows examined per kind and step: bounds how long the file is locked. */
const STEP_ROWS = 1_000;

/** Removes some expired rows; continues from there at the next call. `nowMs` is store time. */
export type Sweep = (nowMs: number) => Promise<void>;

/** @param inForce has the current plans, which determine when the buckets of an address are full */
export function sweepOf(stores: Stores, usageDays: number, inForce: { readonly plans: Plans }): Sweep {
  const resumeAt = new Map<string, string>();
  return (nowMs) =>
    inTransaction(stores, (durable) => {
      const step = (kind: string, isOver: (row: Buffer) => boolean): void =>
        void resumeAt.set(kind, removeSome(durable, kind, resumeAt.get(kind) ?? kind, isOver));
      step('a', (row) => isForgotten(row, nowMs, () => termsOf(inForce.plans, ANONYMOUS_PLAN, null)));
      step('n', (end) => isBanOver(end, nowMs));
      step('T', (marks) => areMarksOver(marks, dayNumber(nowMs - MARKED_MS)));
      step('s', (row) => isMonthOver(row, nowMs) && isForgotten(row, nowMs, () => LEAST));
      const trustedMs = Math.min(nowMs, witnessedMs(durable));
      removeDaysBefore(durable, 'u', dayOf(trustedMs - usageDays * DAY_MS));
    });
}

/**
 * Removes expired rows of a kind, examining `STEP_ROWS` from the name `from` on. Returns the name to continue from; at
 * the end, the first one again.
 */
export function removeSome(store: Store, kind: string, from: string, isOver: (row: Buffer) => boolean): string {
  const over: string[] = [];
  let seen = 0;
  let last = kind;
  for (const { key, value } of store.getRange({ start: from, end: rangeOf(kind).end, limit: STEP_ROWS })) {
    seen += 1;
    last = key;
    if (isOver(value)) over.push(key);
  }
  for (const name of over) store.removeSync(name);
  return seen < STEP_ROWS ? kind : last;
}

/** Returns the start of the seventh newest day of the ledger, unix ms; 0 if it has fewer. */
function witnessedMs(durable: Store): number {
  let before = `u${AFTER_ALL}`;
  for (let n = 0; n < WITNESS_DAYS; n += 1) {
    const [name] = durable.getKeys({ start: before, end: 'u', reverse: true, limit: 1 });
    if (name === undefined) return 0;
    before = name.slice(0, 'u2026-11-21'.length);
  }
  return Date.parse(before.slice(1));
}

/** Removes up to `STEP_ROWS` rows of a kind whose names begin with a day before `day`. */
export function removeDaysBefore(store: Store, kind: string, day: string): void {
  for (const name of [...store.getKeys({ start: kind, end: `${kind}${day}`, limit: STEP_ROWS })])
    store.removeSync(name);
}

/** Returns whether the subject can no longer change a decision. */
function isForgotten(row: Buffer, nowMs: number, termsOf: () => Pick<Terms, 'limits' | 'refill'> | undefined): boolean {
  const { minute, day, strikesSinceMs, bannedUntilMs, operationWindows } = unpackState(row);
  const seenAtMs = Math.max(minute.atMs, day.atMs, strikesSinceMs);
  if (nowMs - seenAtMs <= FORGET_AFTER_MS || nowMs - bannedUntilMs <= BAN_MEMORY_MS) return false;
  for (const [name, bucket] of operationWindows ?? [])
    if (!isWindowOver(name, bucket, nowMs - FULL_FOR_MS)) return false;
  const terms = minute.level + day.level === 0 ? undefined : termsOf();
  return (
    terms?.refill !== 'greedy' || (isFull(minute, terms.limits.minute, nowMs) && isFull(day, terms.limits.day, nowMs))
  );
}

function isMonthOver(row: Buffer, nowMs: number): boolean {
  return isWindowOver('month', unpackState(row).month, nowMs - FULL_FOR_MS);
}

/** Returns whether a greedy bucket has been full for long. An unlimited one is a window, which has ended by then. */
function isFull({ level, atMs }: BucketState, limit: Limit, nowMs: number): boolean {
  return limit === 'unlimited' || nowMs - (atMs + level / limit) > FULL_FOR_MS;
}
