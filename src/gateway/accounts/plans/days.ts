import { DAY_MS } from '../../../shared/utc-day.js';
import type { CustomerRecord } from '../../store/records/customer.js';
import type { KeyRecord } from '../../store/records/key.js';
import type { AuditEntry } from '../../store/records/record.js';

/** Who may owe something: a customer, or a key without one. */
export type Payer = CustomerRecord | KeyRecord;

/** From when on a payer had a plan; null for none. */
interface Step {
  readonly fromMs: number;
  readonly plan: string | null;
}

/**
 * The plan that a payer had at the end of each of these UTC days, by its history; null before it was made, and once it
 * was closed, revoked or had expired. Of days to come it is the plan of now.
 */
export function planDays(
  record: Payer,
  history: readonly AuditEntry[],
  days: readonly string[],
): readonly (string | null)[] {
  const steps = stepsOf(record, history);
  const endMs = 'expiresAtMs' in record && record.expiresAtMs !== null ? record.expiresAtMs : Infinity;
  return days.map((day) => {
    const atMs = Date.parse(day) + DAY_MS;
    return endMs < atMs ? null : (steps.findLast(({ fromMs }) => fromMs < atMs)?.plan ?? null);
  });
}

function stepsOf({ plan, createdAtMs }: Payer, history: readonly AuditEntry[]): readonly Step[] {
  const changes = history.flatMap(({ atMs, changed }) => {
    const change = changed['plan'] as { readonly from?: string; readonly to?: string } | string | undefined;
    return typeof change === 'object' ? [{ fromMs: atMs, from: change.from, plan: change.to ?? null }] : [];
  });
  const ended = history.filter(({ action }) => action === 'closed' || action === 'revoked');
  return [
    { fromMs: createdAtMs, plan: changes[0]?.from ?? plan },
    ...changes,
    ...ended.slice(0, 1).map(({ atMs }) => ({ fromMs: atMs, plan: null })),
  ];
}
