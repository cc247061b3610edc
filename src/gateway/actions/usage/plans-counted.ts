import { isCustomerId } from '../../accounts/token.js';
import { dayOf } from '../../../shared/utc-day.js';
import { monthEndMs, monthStartMs } from '../../../shared/utc-month.js';
import { readReport } from '../../usage/read-report.js';
import { reportOf } from './reports.js';
import type { AdminParts } from '../action.js';

/** A payer has only a few plans in a month. */
const MAX_PLANS = 100;

/** Returns the plans on which a payer has usage in the month of `day`, in store and archive. */
export async function plansCounted(parts: AdminParts, payer: string, day: string): Promise<ReadonlySet<string>> {
  const atMs = Date.parse(day);
  const [from, to] = [dayOf(monthStartMs(atMs)), dayOf(monthEndMs(atMs) - 1)];
  const whose = isCustomerId(payer) ? { customer: payer } : { key: payer };
  const range = { from, to, ...whose, by: ['plan'] as const, names: false, corrections: false, openFrom: from };
  const { rows } = await readReport(reportOf(parts, 'json', range, await parts.registry.nowMs()), MAX_PLANS);
  return new Set(rows.map(({ plan = '' }) => plan));
}
