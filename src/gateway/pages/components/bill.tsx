import { withCurrency } from '../../../shared/currency.js';
import type { Figure, MoneyView } from '../../usage/grouping/money-view.js';
import { Facts } from './facts.js';
import { fullNumber } from './figure.js';
import { PercentBar } from './share.js';

/** What is owed for a month so far, and why. `units` includes corrections. */
export function BillFacts({ bill }: { readonly bill: MoneyView & { readonly units: number } }) {
  const { currency = '', base, included, units, overage, amount, unknown } = bill;
  const money = (coins: Figure | undefined) => coins !== undefined && withCurrency(coins, currency);
  const count = (figure: Figure | undefined) => figure !== undefined && fullNumber(figure);
  return (
    <Facts
      facts={[
        ['Base', money(base)],
        ['Units included', count(included)],
        ['Units used', <Used units={units} included={Number(included ?? 0)} />],
        ['Units beyond those included', count(overage)],
        ['Sum so far', money(amount) || `not known: ${unknown ?? ''}`],
      ]}
    />
  );
}

function Used({ units, included }: { readonly units: number; readonly included: number }) {
  return (
    <>
      {fullNumber(units)}{' '}
      {included > 0 && <PercentBar name="units included" percent={Math.floor((100 * Math.max(0, units)) / included)} />}
    </>
  );
}
