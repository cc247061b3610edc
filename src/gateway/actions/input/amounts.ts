import type { Price } from '../../admission/plan.js';
import { monthEndMs, monthStartMs } from '../../../shared/utc-month.js';
import { DAY_MS } from '../../../shared/utc-day.js';
import type { ReportRange } from '../../usage/grouping/range.js';
import { invalidQuery } from './query.js';

/** Dimensions that amounts can be grouped by. */
const OWED_BY = new Set(['customer', 'plan', 'day']);

type ReportOf = Pick<ReportRange, 'from' | 'to' | 'by' | 'key'>;

/**
 * Returns the prices for a report with amounts; undefined if it has none.
 * @param prices by plan in force; null for a plan without a price @param wanted the query parameter `amounts`
 * @throws AdminRefusal if amounts are required but impossible
 */
export function pricesFor(
  asked: ReportOf,
  prices: Readonly<Record<string, Price | null>>,
  wanted: 'true' | 'false' | undefined,
): ReportRange['prices'] {
  if (wanted === 'false') return undefined;
  const problem = misfitOf(asked, prices);
  if (problem === null) return prices;
  if (wanted === 'true') throw invalidQuery(`No amounts: ${problem}`);
  return undefined;
}

function misfitOf({ from, to, by, key }: ReportOf, prices: Readonly<Record<string, Price | null>>): string | null {
  if (Object.values(prices).every((price) => price === null)) return 'no plan has a price (plans.yaml).';
  if (!by.includes('customer') || by.some((dimension) => !OWED_BY.has(dimension)))
    return 'ask for them by customer, and at most by plan or day as well.';
  if (key !== undefined) return 'they are of customers; give customer, not key.';
  const firstMs = Date.parse(from);
  if (monthStartMs(firstMs) === firstMs && monthEndMs(firstMs) === Date.parse(to) + DAY_MS) return null;
  return 'ask for one whole UTC month, such as from=2026-11-01 and to=2026-11-30.';
}
