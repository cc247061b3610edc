import { DAY_MS } from '../../../shared/utc-day.js';
import type { Limits } from '../../admission/bucket.js';
import type { CustomerRecord } from '../../store/records/customer.js';
import type { KeyRecord } from '../../store/records/key.js';
import type { AuditEntry } from '../../store/records/record.js';

/** Who may owe something: a customer, or a key without one. */
export type Payer = CustomerRecord | KeyRecord;

/** What applied to a payer at the end of a day. */
interface DayTerms {
  /** Null before it was made or imported, and once it was closed, revoked or had expired. */
  readonly plan: string | null;
  /** Limits of its own, for a plan whose limits are `custom`. */
  readonly limits: Limits | null;
}

/** A value that a field had from a moment on. */
interface Step {
  readonly fromMs: number;
  readonly value: unknown;
}

/**
 * What applied to a payer at the end of each of these UTC days, by its history alone: what is changed today leaves the
 * days before as they were. A key that expired on the 5th and got a new end on the 9th has no plan from the 5th to the
 * 8th. Days to come are as now.
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

/** The plan of `termsOn`. */
export function planDays(
  record: Payer,
  history: readonly AuditEntry[],
  days: readonly string[],
): readonly (string | null)[] {
  return termsOn(record, history, days).map(({ plan }) => plan);
}

/** Every plan that the payer ever had. */
export function plansIn(record: Payer, history: readonly AuditEntry[]): ReadonlySet<string> {
  return new Set(stepsOf('plan', record.plan, history).map(({ value }) => value as string));
}

/** @param now the value where the history doesn't name the field */
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

/** Unix ms; a history has a moment as ISO 8601, a record as unix ms. */
function endIn(expires: unknown): number {
  return expires === null || expires === undefined ? Infinity : new Date(expires as string | number).getTime();
}
