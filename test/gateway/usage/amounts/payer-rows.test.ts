import t from 'tap';
import type { Plan } from '../../../../src/gateway/admission/plan.js';
import type { UsageRow } from '../../../../src/gateway/store/records/counts.js';
import type { ReportRow } from '../../../../src/gateway/usage/grouping/groups.js';
import type { ReportRange } from '../../../../src/gateway/usage/grouping/range.js';
import { Amounts } from '../../../../src/gateway/usage/amounts/payer-rows.js';
import { BAN } from '../../admission/ban.js';
import { openRegistry, openStore } from '../../accounts/store.js';

type Test = Parameters<typeof openStore>[0];

const LIMITS = { minute: 60, day: 1_000 };
const PLANS = new Map<string, Plan>(
  ['basic', 'pro', 'trial'].map((name) => [name, { name, limits: LIMITS, refill: 'interval', ban: BAN }]),
);
/** 1.00 a day and nothing included; 2.00 a day. */
const PRICES = {
  basic: { monthly: 3000, included: 0, perUnit: 2, currency: 'EUR' },
  pro: { monthly: 6000, included: 0, perUnit: 1, currency: 'EUR' },
  trial: null,
};
const NOVEMBER = { from: '2026-11-01', to: '2026-11-30', openFrom: '2026-12-01', prices: PRICES } as const;
const NOBODY = 'Zz0123456789';

/** Two payers since before November: a customer that changed its plan on the 11th, and a key alone. */
async function stage(t: Test) {
  const { engine } = openStore(t);
  const clock = { at: '2026-10-31T00:00:00Z' };
  const registry = openRegistry(engine, { plans: () => PLANS, clock: () => Promise.resolve(Date.parse(clock.at)) });
  const { id: customer } = await registry.customers.create({ plan: 'basic', name: 'Acme' }, 'test');
  const { record: key } = await registry.create({ name: 'its', customer });
  const { record: lone } = await registry.create({ plan: 'basic', name: 'lone' });
  clock.at = '2026-11-11T00:00:00Z';
  await registry.customers.change(customer, { plan: 'pro' }, 'test');
  const row = (key: string, day: number, plan: string, units: number): UsageRow => ({
    ...{ key, plan, operation: 'listPets', day: `2026-11-${String(day).padStart(2, '0')}` },
    ...{ requests: units, units, returned: 0, limited: 1, banned: 2, failed: 3 },
  });
  const report = async (rows: readonly UsageRow[], range: Partial<ReportRange> = {}) => {
    const amounts = new Amounts({ ...NOVEMBER, by: ['customer'], ...range }, engine);
    const found: ReportRow[] = [];
    async function* ledger() {
      await Promise.resolve();
      yield [...rows].sort((a, b) => (a.key < b.key ? -1 : 1));
    }
    for await (const some of amounts.rows(ledger())) found.push(...some);
    return { rows: found, amounts };
  };
  return { report, row, customer, key: key.id, lone: lone.id };
}

t.test('a payer owes the days of each plan, and its units by the plan that admitted them', async (t) => {
  const { report, row, customer, key, lone } = await stage(t);
  const { rows, amounts } = await report([row(key, 5, 'basic', 10), row(key, 20, 'pro', 7), row(lone, 5, 'basic', 4)]);
  const ofCustomer = rows.find((each) => each.customer === customer)!;
  t.match(ofCustomer, { currency: 'EUR', base: 1000 + 4000, overage: 17, amount: 5000 + 20 + 7, units: 17 });
  t.match(ofCustomer, { requests: 17, limited: 2, banned: 4, failed: 6, reference: '', name: '', final: true });
  t.match(
    rows.find((each) => each.customer === lone),
    { base: 3000, overage: 4, amount: 3008 },
  );
  t.strictSame(
    rows.map((each) => each.customer),
    [customer, lone].sort(),
    'in the order of their IDs',
  );
  for (const name of ['plan', 'day', 'without', 'correctedUnits', 'correctedRequests', 'unknown'] as const)
    t.equal(ofCustomer[name], undefined, name);
  t.match(amounts.totals, { requests: 21, units: 21, returned: 0, limited: 3, banned: 6, failed: 9 });
  t.match(amounts.money.view(), { currency: 'EUR', amount: 5027 + 3008 });
  t.match(amounts.money.byCurrency(), [{ currency: 'EUR', base: 8000, included: 0, overage: 21, amount: 8035 }]);
});

t.test('an amount that no number holds exactly is a text', async (t) => {
  const { report, row, key, customer } = await stage(t);
  const prices = { ...PRICES, basic: { ...PRICES.basic, perUnit: 9_007_199_254_740_991 } };
  const { rows } = await report([row(key, 5, 'basic', 3)], { prices, customer });
  t.strictSame(
    rows.map(({ overage, amount }) => [overage, amount]),
    [[3, '27021597764227973']],
  );
});

t.test('corrections are paid for, and shown apart where they are asked for', async (t) => {
  const { report, row, key, customer } = await stage(t);
  const correction: UsageRow = {
    ...row(key, 5, 'basic', 0),
    ...{ requests: 0, units: 0, returned: 0, limited: 0, banned: 0, failed: 0, corrected: { requests: -1, units: -4 } },
  };
  const given = [row(key, 5, 'basic', 10), correction];
  const { rows, amounts } = await report(given, { corrections: true, customer });
  t.match(rows, [{ units: 10, correctedUnits: -4, correctedRequests: -1, overage: 6, amount: 5012 }]);
  t.strictSame(amounts.corrected, { correctedRequests: -1, correctedUnits: -4 });
  const hidden = await report(given, { corrections: false, customer });
  t.match(hidden.rows, [{ units: 10, overage: 6, amount: 5012, correctedUnits: undefined }]);
});

t.test(
  'counts of nobody known are reported, and what they cost is unknown; so is all that they are part of',
  async (t) => {
    const { report, row, lone } = await stage(t);
    const { rows, amounts } = await report([row(NOBODY, 3, 'basic', 5), row(lone, 3, 'basic', 1)]);
    const unknown = rows.find((each) => each.customer === NOBODY)!;
    t.match(unknown, { units: 5, unknown: 'it has no record', amount: undefined });
    t.match(amounts.money.view(), { unknown: 'it has no record', amount: undefined });
    t.match(amounts.money.byCurrency(), [{ currency: 'EUR' }], 'the known part by currency');
  },
);

t.test('with days, each says whether it is final, and which gateways it may lack', async (t) => {
  const { report, row, lone } = await stage(t);
  const without = [
    { gateway: 'g-2', host: 'b', from: '2026-11-02', to: '2026-11-04', seenMs: 0, finalAtMs: null },
  ] as const;
  const range = { by: ['customer', 'day'] as const, key: lone, openFrom: '2026-11-04', without };
  const { rows } = await report([row(lone, 3, 'basic', 1)], range);
  t.strictSame(
    rows.map(({ day, final, without }) => [day, final, without]),
    rows.map((_, n) => [`2026-11-${String(n + 1).padStart(2, '0')}`, n < 3, n === 1 || n === 2 ? 'g-2' : undefined]),
  );
  t.equal(rows.length, 30);
  t.match((await report([], { key: lone, openFrom: '2026-11-30' })).rows, [{ final: false, without: undefined }]);
});

t.test('more payers than are read at once are all there, each once, in order', async (t) => {
  const { engine } = openStore(t);
  const registry = openRegistry(engine, {
    plans: () => PLANS,
    clock: () => Promise.resolve(Date.parse('2026-10-31T00:00:00Z')),
  });
  const ids: string[] = [];
  for (let n = 0; n < 300; n += 1) ids.push((await registry.create({ plan: 'basic', name: `k${n}` })).record.id);
  const amounts = new Amounts({ ...NOVEMBER, by: ['customer'] }, engine);
  const found: (string | undefined)[] = [];
  async function* nothing() {
    await Promise.resolve();
    yield [];
  }
  for await (const some of amounts.rows(nothing())) found.push(...some.map(({ customer }) => customer));
  t.strictSame(found, ids.sort());
  t.match(amounts.money.view(), { amount: 300 * 3000 });
});
