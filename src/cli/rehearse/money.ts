import type { MoneyView } from '../../gateway/usage/grouping/money-view.js';
import type { Owed } from '../../gateway/usage/rehearsal/bills.js';
import { withCurrency } from '../../shared/currency.js';
import { cell } from '../../shared/readable.js';

/** Formats an amount; if it is unknown, why. */
export function moneyIn(money: MoneyView | null | undefined): string {
  if (money?.amount === undefined) return cell(money?.unknown);
  return withCurrency(money.amount, money.currency ?? '');
}

/** Formats the sums that were owed, if known, and those that would be. */
export function sumsIn({ before, after }: Owed<readonly MoneyView[]>): string {
  const [then, now] = [before, after].map((sums) => sums?.map(moneyIn).join(' and ') || 'nothing that is known');
  return before === null ? `then ${cell(now)}` : `${cell(then)}, then ${cell(now)}`;
}
