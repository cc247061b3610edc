import type { z } from 'zod';
import { PlanList } from '../../actions/schemas.js';
import { withCurrency } from '../../../shared/currency.js';
import { fullNumber } from '../../pages/components/figure.js';
import { LinkButton } from '../../pages/components/links.js';
import { Badge } from '../../pages/components/notice.js';
import { addressOf } from '../../pages/components/pager.js';
import { Table } from '../../pages/components/table.js';
import { limitsText } from '../forms/limits.js';
import { CONSOLE, page, type Page } from '../visit/page.js';
import { askedForPlans, REHEARSAL, REHEARSE, rehearsed } from './rehearse.js';

const LIST = 'GET /admin/v1/plans';
const STATES = { in_force: 'in force', retired: 'retired', gone: 'gone from the file' } as const;

/** The plans, with the number of keys and customers on each, and the rehearsal of other plans. */
export const PLAN_PAGES: readonly Page[] = [
  page('GET /plans', LIST, 'Plans', {
    menu: 'Plans',
    serve: async ({ api }) => {
      const { plans } = await api.ask(PlanList, LIST);
      return { content: <Plans plans={plans} mayRehearse={api.may(REHEARSE)} /> };
    },
  }),
  page('GET /plans/rehearse', REHEARSE, 'Rehearse plans', { serve: askedForPlans }),
  page('POST /plans/rehearse', REHEARSE, 'Plans, rehearsed', { serve: rehearsed }),
];

type Plan = z.output<typeof PlanList>['plans'][number];

function Plans({ plans, mayRehearse }: { readonly plans: readonly Plan[]; readonly mayRehearse: boolean }) {
  return (
    <>
      <p>Plans are in the plans file; a change applies to the next request after its reload.</p>
      {mayRehearse && <LinkButton href={REHEARSAL}>Rehearse other plans</LinkButton>}
      <Table
        caption="Plans, and who is on them"
        empty="No plans."
        rows={plans}
        columns={[
          { head: 'Plan', cell: ({ name }) => name },
          {
            head: 'State',
            cell: ({ state }) => <Badge level={state === 'in_force' ? 'good' : 'warn'}>{STATES[state]}</Badge>,
          },
          { head: 'Limits', cell: ({ state, limits }) => (state === 'gone' ? '' : limitsText(limits)) },
          { head: 'In flight', number: true, cell: ({ concurrency }) => concurrency && fullNumber(concurrency) },
          {
            head: 'Price',
            cell: ({ name, state, price }) => (
              <>
                {priceText(price)}{' '}
                {mayRehearse && state !== 'gone' && (
                  <a href={addressOf(REHEARSAL, { plan: name })}>Try other figures</a>
                )}
              </>
            ),
          },
          {
            head: 'Keys without a customer',
            number: true,
            cell: ({ name, keys }) => <a href={addressOf(`${CONSOLE}/keys`, { plan: name })}>{fullNumber(keys)}</a>,
          },
          {
            ...{ head: 'Customers', number: true },
            cell: ({ name, customers }) => (
              <a href={addressOf(`${CONSOLE}/customers`, { plan: name })}>{fullNumber(customers)}</a>
            ),
          },
        ]}
      />
    </>
  );
}

function priceText(price: Plan['price']): string {
  if (price === null) return '';
  const [monthly, perUnit] = [price.monthly, price.perUnit].map((coins) => withCurrency(coins, price.currency));
  return `${monthly} a month, ${fullNumber(price.included)} units included, ${perUnit} for each more`;
}
