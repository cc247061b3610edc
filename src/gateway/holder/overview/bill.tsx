import { BillFacts } from '../../pages/components/bill.js';
import { Badge } from '../../pages/components/notice.js';
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
          <BillFacts bill={bill} />
        </>
      )}
    </section>
  );
}
