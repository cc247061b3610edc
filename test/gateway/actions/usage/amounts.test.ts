import t from 'tap';
import type { Test } from 'tap';
import type { Plan, Price } from '../../../../src/gateway/admission/plan.js';
import { dayOf } from '../../../../src/shared/utc-day.js';
import { monthStartMs } from '../../../../src/shared/utc-month.js';
import { DAY_MS } from '../../../../src/gateway/admission/bucket.js';
import { BAN } from '../../admission/ban.js';
import { operator } from '../../../cli/operator.js';
import { requestWith } from '../../accounts/store.js';
import type { Listener } from '../../admin/listener.js';

type Row = Readonly<Record<string, unknown>>;

const START_MS = monthStartMs(monthStartMs(Date.now()) - 1);
const DAYS = Math.round((monthStartMs(Date.now()) - START_MS) / DAY_MS);
const [FIRST, LAST] = [dayOf(START_MS), dayOf(START_MS + (DAYS - 1) * DAY_MS)];
const MONTH = `from=${FIRST}&to=${LAST}`;

/** A euro for each day of last month, ten units of it included. */
const PRICE: Price = { monthly: DAYS * 100, included: DAYS * 10, perUnit: 3, currency: 'EUR' };

function plan(name: string, price?: Price): [string, Plan] {
  return [name, { name, limits: { minute: 'unlimited', day: 'unlimited' }, refill: 'interval', ban: BAN, price }];
}

const ANONYMOUS: [string, Plan] = ['anonymous', { ...plan('anonymous')[1], limits: { minute: 300, day: 10_000 } }];

/** Plan basic costs a euro a day, pro two, dollar a dollar; trial has no price, gold is to go. */
const PLANS = new Map([
  plan('basic', PRICE),
  plan('pro', { ...PRICE, monthly: DAYS * 200, included: 0, perUnit: 1 }),
  plan('dollar', { ...PRICE, currency: 'USD' }),
  plan('trial'),
  plan('gold', PRICE),
  ANONYMOUS,
]);

/** A registry whose clock stands at a day of last month, the first being 1, and who sends at that time. */
async function lastMonth(t: Test) {
  let nowMs = START_MS - DAY_MS;
  let plans = PLANS;
  const listener = await operator(t, {}, { plans: () => plans, clock: () => Promise.resolve(nowMs) });
  listener.engine.setPlans(PLANS);
  return {
    ...listener,
    on: (day: number, hour = 12) => (nowMs = START_MS + (day - 1) * DAY_MS + hour * 3_600_000),
    now: () => (nowMs = Date.now()),
    loses: (name: string) => (plans = new Map([...PLANS].filter(([each]) => each !== name))),
    send: (token: string, cost: number) => listener.engine.admit([requestWith(token, { cost, nowMs })]),
  };
}

async function rowsOf({ ask }: Pick<Listener, 'ask'>, query: string): Promise<readonly Row[]> {
  const reply = await ask('GET', `/admin/v1/usage?${query}`);
  if (reply.status !== 200) throw new Error(reply.text);
  return reply.json['rows'] as readonly Row[];
}

t.test('a month shows what each payer owes, whether it sent anything or not', async (t) => {
  const { registry, on, send, now, loses, ...listener } = await lastMonth(t);
  const customer = async (name: string, plan: string): Promise<string> =>
    (await registry.customers.create({ name, plan }, 'test')).id;
  const keyOf = async (id: string): Promise<string> => (await registry.create({ customer: id, name: 'k' })).token;
  on(-3);
  const silent = await customer('silent', 'basic');
  const leaver = await customer('leaver', 'basic');
  const golden = await customer('golden', 'gold');
  const mixed = await customer('mixed', 'basic');
  await customer('unpriced and silent', 'trial');
  const tried = await customer('tried', 'trial');
  const tryKey = await keyOf(tried);
  const lone = await registry.create({ plan: 'basic', name: 'lone' });
  on(3);
  await send(lone.token, DAYS * 10 + 4);
  await send(tryKey, 7);
  on(5);
  await registry.customers.close(leaver, 'test');
  on(11);
  const mover = await customer('mover', 'basic');
  const key = await keyOf(mover);
  await send(key, 110);
  on(21);
  await send(key, 1);
  await registry.customers.change(mover, { plan: 'pro' }, 'test');
  await registry.customers.change(mixed, { plan: 'dollar' }, 'test');
  await send(key, 2);
  on(22);
  await send(key, 3);
  now();
  loses('gold');

  const rows = await rowsOf(listener, `${MONTH}&by=customer`);
  const of = (id: string): Row | undefined => rows.find((row) => row['customer'] === id);
  const whole = { currency: 'EUR', base: DAYS * 100, included: DAYS * 10, final: true };
  t.match(of(silent), { ...whole, name: 'silent', requests: 0, units: 0, overage: 0, amount: DAYS * 100 });
  t.match(of(lone.record.id), { ...whole, units: DAYS * 10 + 4, overage: 4, amount: DAYS * 100 + 12 });
  t.match(of(leaver), { base: 400, included: 40, overage: 0, amount: 400 }, 'closed on the 5th: four days');
  const left = (DAYS - 20) * 200;
  t.match(of(mover), { units: 116, base: 1000 + left, included: 100, overage: 16, amount: 1000 + 33 + left + 5 });
  t.match(of(golden), { amount: undefined, unknown: 'no price of gold' }, 'a plan that is gone is never free');
  t.match(of(tried), { units: 7, amount: undefined, unknown: 'no price of trial' });
  t.match(of(mixed), { currency: 'EUR USD', amount: undefined, unknown: 'several currencies' });
  t.equal(rows.length, 7, 'who owes nothing and sent nothing has no row');

  const byPlan = await rowsOf(listener, `${MONTH}&by=customer,plan&customer=${mover}`);
  t.match(
    byPlan,
    [
      { plan: 'basic', units: 111, base: 1000, included: 100, overage: 11, amount: 1033 },
      { plan: 'pro', units: 5, base: left, included: 0, overage: 5, amount: left + 5 },
    ],
    'each unit is owed on the plan on which it was admitted',
  );
  const byDay = await rowsOf(listener, `${MONTH}&by=customer,day`);
  for (const [field, id] of [
    ['amount', mover],
    ['base', silent],
    ['overage', lone.record.id],
  ] as const) {
    const days = byDay.filter(({ customer }) => customer === id);
    const sum = days.reduce((all, row) => all + Number(row[field]), 0);
    t.equal(sum, of(id)?.[field], `the days add up: ${field}`);
  }
  const { json } = await listener.ask('GET', `/admin/v1/usage?${MONTH}&by=customer,plan`);
  const totals = json['totals'] as Row;
  t.match(totals, { amount: undefined, unknown: 'no price of gold; no price of trial; several currencies' });
  t.match(totals['amounts'], [{ currency: 'EUR' }, { currency: 'USD', base: (DAYS - 20) * 100 }]);
});

t.test('a month that is not over counts as if the plan is kept, and says that it grows', async (t) => {
  const { registry, on, now, ...listener } = await lastMonth(t);
  now();
  await registry.customers.create({ name: 'Acme', plan: 'basic' }, 'test');
  on(1);
  await registry.customers.create({ name: 'Earlier', plan: 'basic' }, 'test');
  now();
  const from = dayOf(monthStartMs(Date.now()));
  const to = dayOf(monthStartMs(monthStartMs(Date.now()) + 32 * DAY_MS) - 1);
  const { json } = await listener.ask('GET', `/admin/v1/usage?from=${from}&to=${to}&by=customer`);
  const rows = json['rows'] as readonly Row[];
  t.equal(json['final'], false);
  t.match(
    rows.find(({ name }) => name === 'Earlier'),
    { amount: PRICE.monthly, final: false },
  );
  const { amount } = rows.find(({ name }) => name === 'Acme')!;
  const days = Date.parse(to) / DAY_MS - Math.floor(Date.now() / DAY_MS) + 1;
  const before = Math.round((Date.parse(to) - Date.parse(from)) / DAY_MS) + 1 - days;
  const all = days + before;
  t.equal(amount, PRICE.monthly - Math.floor((PRICE.monthly * before) / all), 'from the day of its making on');
});

t.test('amounts come where they fit; demanded elsewhere, the answer says what to ask for', async (t) => {
  const { registry, on, now, ...listener } = await lastMonth(t);
  on(1);
  await registry.customers.create({ name: '=Acme', plan: 'basic' }, 'test');
  now();
  const csv = async (query: string): Promise<string> =>
    (await listener.ask('GET', `/admin/v1/usage?${query}&format=csv`)).text;
  const lines = (await csv(`${MONTH}&by=customer&names=false`)).split('\r\n');
  t.equal(
    lines[0],
    'customer,reference,requests,units,returned,limited,banned,failed,' +
      'currency,base,included,overage,amount,unknown,final,without',
  );
  t.match(lines[1], `,0,0,0,0,0,0,EUR,${DAYS * 100},${DAYS * 10},0,${DAYS * 100},,true,`);
  t.match(lines[2], `total,,0,0,0,0,0,0,EUR,${DAYS * 100},`);
  for (const query of [
    `${MONTH}&by=plan`,
    `${MONTH}&by=customer&amounts=false`,
    `from=${FIRST}&to=${FIRST}&by=customer`,
    `${MONTH}&by=customer,operation`,
  ])
    t.notMatch(await csv(query), 'currency', query);
  const refused = async (query: string): Promise<string> =>
    (await listener.ask('GET', `/admin/v1/usage?${query}&amounts=true`)).text;
  t.match(await refused(`${MONTH}&by=plan`), /by customer/);
  t.match(await refused(`${MONTH}&by=customer,key`), /at most by plan or day/);
  t.match(await refused(`from=${FIRST}&to=${FIRST}&by=customer`), /one whole UTC month/);

  const shown = await listener.run('usage', '--month', FIRST.slice(0, 7), '--by', 'customer');
  t.match(shown, { code: 0, stderr: '' });
  t.match(shown.stdout, new RegExp(` 0 +${DAYS}\\.00 +${DAYS * 10} +0 +${DAYS}\\.00 +EUR`));
});
