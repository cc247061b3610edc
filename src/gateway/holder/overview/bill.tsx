import { withCurrency } from '../../../shared/currency.js';
import { fullNumber } from '../../pages/components/figure.js';
import { Facts } from '../../pages/components/facts.js';
import { Badge } from '../../pages/components/notice.js';
import type { Figure } from '../../usage/grouping/money-view.js';
import type { BillSoFar } from '../../usage/so-far.js';
import { Moment } from '../../pages/components/moment.js';
import type { Overview } from './read.js';

/** What is owed for this month, if the plan has a price. */
export function Bill({ bill, customer }: Pick<Overview, 'bill' | 'customer'>) {
  if (bill === null) return null;
  return (
    <section>
      <h2>
        Owed this month
        {customer !== null && (
          <>
            {' by '}
            <bdi>{customer.name}</bdi>
          </>
        )}
      </h2>
      {bill === 'unknown' ? (
        <p>The bill is not ready yet. Reload the page in a minute.</p>
      ) : (
        <>
          <p>
            <Badge level="warn">growing</Badge> As of <Moment at={bill.asOfMs} />, and as if the plan stays the same
            until the month ends. The operator of this API has the last word.
          </p>
          <Facts facts={factsOf(bill)} />
        </>
      )}
    </section>
  );
}

function factsOf({ currency = '', base, included, units, overage, amount, unknown }: BillSoFar) {
  const money = (coins: Figure | undefined) => coins !== undefined && withCurrency(coins, currency);
  const count = (figure: Figure | undefined) => figure !== undefined && fullNumber(figure);
  return [
    ['Base', money(base)],
    ['Units included', count(included)],
    ['Units used', count(units)],
    ['Units beyond those included', count(overage)],
    ['Sum so far', money(amount) || `not known: ${unknown ?? ''}`],
  ] as const;
}
