import t from 'tap';
import type { Plan, Plans } from '../../../../src/gateway/admission/plan.js';
import type { CustomerRecord } from '../../../../src/gateway/store/records/customer.js';
import type { KeyRecord } from '../../../../src/gateway/store/records/key.js';
import type { Holders } from '../../../../src/gateway/accounts/plans/holders.js';
import { lossesOf } from '../../../../src/gateway/accounts/plans/losses.js';
import { operationTerms } from '../../../../src/gateway/admission/windows.js';
import { BAN } from '../../admission/ban.js';
import { keyRecord } from '../../admission/key-record.js';

const COSTS = new Map([['createPet', 1]]);
const LIMITS = { minute: 60, day: 1000 };

const plansOf = (...plans: readonly (readonly [name: string, limits: Plan['limits'], cost?: number])[]): Plans =>
  new Map(
    plans.map(([name, limits, cost]) => [
      name,
      {
        name,
        limits,
        refill: 'interval',
        ban: BAN,
        operations: cost ? operationTerms({ createPet: { cost } }) : undefined,
      },
    ]),
  );

const BEFORE = plansOf(['free', LIMITS], ['pro', LIMITS], ['own', 'custom']);

/** A store of which only pages are read; counts them. */
function storeOf(keys: readonly Partial<KeyRecord>[], customers: readonly Partial<CustomerRecord>[] = []) {
  let reads = 0;
  const pageOf =
    <Kind extends { readonly id: string }>(records: readonly Kind[]) =>
    (afterId: string | null, count: number): Promise<readonly Kind[]> => {
      reads += 1;
      return Promise.resolve(records.filter(({ id }) => afterId === null || id > afterId).slice(0, count));
    };
  const holders = {
    keys: { page: pageOf(keys.map((fields) => keyRecord(fields.id!, fields))) },
    customers: { page: pageOf(customers as readonly CustomerRecord[]) },
  };
  return { reads: () => reads, holders: holders as unknown as Holders };
}

t.test('what narrows nothing asks nobody', async (t) => {
  const store = storeOf([{ id: 'a', plan: 'free' }]);
  const lower = plansOf(['free', { minute: 1, day: 1 }], ['pro', LIMITS], ['own', 'custom'], ['new', LIMITS]);
  t.same(await lossesOf(store.holders, BEFORE, lower, COSTS), []);
  t.equal(store.reads(), 0);
});

t.test('those who lose are counted over all pages, and a few of them named', async (t) => {
  const keys = Array.from({ length: 1_234 }, (_, n) => ({
    id: String(n).padStart(12, '0'),
    plan: n % 2 === 0 ? 'pro' : 'free',
    status: n === 2 ? ('revoked' as const) : ('enabled' as const),
  }));
  // Of a customer: the plan is the customer's.
  const store = storeOf(
    [...keys, { id: '99999999999999', plan: '' }],
    [
      { id: 'c1', plan: 'pro', limits: null, status: 'disabled' },
      { id: 'c2', plan: 'pro', limits: null, status: 'closed' },
    ],
  );
  t.same(await lossesOf(store.holders, BEFORE, plansOf(['free', LIMITS], ['own', 'custom']), COSTS), [
    { plan: 'pro', reason: 'gone', keys: 616, customers: 1, ids: ['000000000000', '000000000004', '000000000006'] },
  ]);
});

t.test('why a plan serves somebody no more', async (t) => {
  const own = { minute: 7, day: 'unlimited' } as const;
  const { holders } = storeOf([
    { id: 'a', plan: 'free' },
    { id: 'b', plan: 'own', limits: own },
    { id: 'c', plan: 'never', limits: null },
  ]);
  const reasons = async (before: Plans | null, next: Plans): Promise<unknown> =>
    (await lossesOf(holders, before, next, COSTS)).map(({ plan, reason, ids }) => [plan, reason, ...ids]);
  const unchanged = [['pro', LIMITS]] as const;
  const [free, custom] = [
    ['free', LIMITS],
    ['own', 'custom'],
  ] as const;
  t.same(await reasons(BEFORE, plansOf(['free', 'custom'], ...unchanged, custom)), [['free', 'without_limits', 'a']]);
  t.same(await reasons(BEFORE, plansOf(free, ...unchanged, ['own', LIMITS])), [['own', 'own_limits', 'b']]);
  t.same(await reasons(BEFORE, plansOf(free, ...unchanged, ['own', 'custom', 8])), [['own', 'price', 'b']]);
  t.same(await reasons(BEFORE, plansOf(free, ...unchanged, ['own', 'custom', 7])), [], 'as much as it holds');
  t.same(
    await reasons(null, plansOf(free, ['own', 'custom', 8])),
    [
      ['own', 'price', 'b'],
      ['never', 'gone', 'c'],
    ],
    'at a start whoever is not served, since when ever',
  );
});
