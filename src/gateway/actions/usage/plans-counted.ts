import { isCustomerId } from '../../accounts/token.js';
import { dayOf } from '../../../shared/utc-day.js';
import { monthEndMs, monthStartMs } from '../../../shared/utc-month.js';
import { reportIn } from '../../usage/grouping/report-rows.js';
import { reportOf } from './reports.js';
import type { AdminParts } from '../action.js';

/** Returns the plans on which a payer has usage in the month of `day`, in store and archive. */
export async function plansCounted(parts: AdminParts, payer: string, day: string): Promise<ReadonlySet<string>> {
  const atMs = Date.parse(day);
  const [from, to] = [dayOf(monthStartMs(atMs)), dayOf(monthEndMs(atMs) - 1)];
  const whose = isCustomerId(payer) ? { customer: payer } : { key: payer };
  const range = { from, to, ...whose, by: ['plan'] as const, corrections: false, openFrom: from };
  const plans = new Set<string>();
  const report = reportIn(reportOf(parts, 'rows', range, await parts.registry.nowMs()));
  for await (const rows of report.rows) for (const { plan = '' } of rows) plans.add(plan);
  return plans;
}
