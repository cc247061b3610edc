import { DAY_MS } from '../../../shared/utc-day.js';
import type { Limits } from '../../admission/bucket.js';
import type { CustomerRecord } from '../../store/records/customer.js';
import type { KeyRecord } from '../../store/records/key.js';
import type { AuditEntry } from '../../store/records/record.js';

/** The one who pays: a customer, or a key without one. */
export type Payer = CustomerRecord | KeyRecord;

/** The terms of a payer at the end of a day. */
interface DayTerms {
  /** Null before its creation or import, and after it was closed, revoked or expired. */
  readonly plan: string | null;
  /** Its own limits, on a plan with custom limits. */
  readonly limits: Limits | null;
}

/** The value of a field from a time on. */
interface Step {
  readonly fromMs: number;
  readonly value: unknown;
}

/**
 * Returns a payer's terms at the end of each of these UTC days, from its history alone: a change made today leaves
 * earlier days unchanged. A key that expired on the 5th and was extended on the 9th has no plan from the 5th to the
 * 8th. Future days are like today.
 */
export function termsOn(record: Payer, history: readonly AuditEntry[], days: readonly string[]): readonly DayTerms[] {
  const beganMs = beginningIn(history)?.atMs ?? record.createdAtMs;
  const endedMs = history.find(hasEnded)?.atMs ?? Infinity;
  const expires = 'expiresAtMs' in record ? record.expiresAtMs : null;
  const [plans, limits, ends] = [
    stepsOf('plan', record.plan, history),
    stepsOf('limits', record.limits, history),
    stepsOf('expires', expires, history),
  ];
  return days.map((day) => {
    const atMs = Date.parse(day) + DAY_MS;
    const isHeld = beganMs < atMs && atMs <= endedMs && atMs <= endIn(valueAt(ends, atMs));
    return {
      plan: isHeld ? (valueAt(plans, atMs) as string) : null,
      limits: valueAt(limits, atMs) as Limits | null,
    };
  });
}

/** Returns only the plans of `termsOn`. */
export function planDays(
  record: Payer,
  history: readonly AuditEntry[],
  days: readonly string[],
): readonly (string | null)[] {
  return termsOn(record, history, days).map(({ plan }) => plan);
}

/** Returns every plan that the payer ever had. */
export function plansIn(record: Payer, history: readonly AuditEntry[]): ReadonlySet<string> {
  return new Set(stepsOf('plan', record.plan, history).map(({ value }) => value as string));
}

/** @param now the value if the history doesn't name the field */
function stepsOf(field: 'plan' | 'limits' | 'expires', now: unknown, history: readonly AuditEntry[]): readonly Step[] {
  const changes = history.flatMap(({ atMs, action, changed }) => {
    const change = action === 'changed' ? (changed[field] as { from?: unknown; to?: unknown } | undefined) : undefined;
    return change === undefined ? [] : [{ fromMs: atMs, from: change.from, value: change.to ?? null }];
  });
  const first = beginningIn(history)?.changed[field];
  return [{ fromMs: -Infinity, value: first ?? (changes.length > 0 ? changes[0]!.from : now) ?? null }, ...changes];
}

function valueAt(steps: readonly Step[], atMs: number): unknown {
  return steps.findLast(({ fromMs }) => fromMs < atMs)?.value;
}

function beginningIn([first]: readonly AuditEntry[]): AuditEntry | undefined {
  return first?.action === 'created' || first?.action === 'imported' ? first : undefined;
}

/** A key may have been revoked already when it was imported. */
function hasEnded({ action, changed }: AuditEntry): boolean {
  return action === 'closed' || action === 'revoked' || (action === 'imported' && changed['status'] === 'revoked');
}

/** Returns unix ms; Infinity for null. A history has ISO 8601, a record unix ms. */
function endIn(expires: unknown): number {
  return expires === null || expires === undefined ? Infinity : new Date(expires as string | number).getTime();
}
