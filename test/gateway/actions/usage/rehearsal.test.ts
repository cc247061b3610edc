import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import type { Test } from 'tap';
import { stringify } from 'yaml';
import { toPlans, plansFile } from '../../../../src/gateway/config/schema/plans.js';
import { dayOf, DAY_MS } from '../../../../src/shared/utc-day.js';
import { monthStartMs } from '../../../../src/shared/utc-month.js';
import { operator } from '../../../cli/operator.js';
import { requestWith } from '../../accounts/store.js';
import { listen } from '../../admin/listener.js';

const START_MS = monthStartMs(monthStartMs(Date.now()) - 1);
const DAYS = Math.round((monthStartMs(Date.now()) - START_MS) / DAY_MS);
const MONTH = dayOf(START_MS).slice(0, 7);
const PATH = `/admin/v1/plans/rehearse?month=${MONTH}`;

/** A euro for each day, ten units of it included. */
const PRICE = { monthly: DAYS * 100, included: DAYS * 10, per_unit: 3, currency: 'EUR' };

function plan(day: number | string, price?: object) {
  return { limits: { minute: 'unlimited', day }, ban: { after: 30 }, ...(price === undefined ? {} : { price }) };
}
const ANONYMOUS = { limits: { minute: 9, day: 90 }, ban: { after: 30 } };
const TODAY = { basic: plan('unlimited', PRICE), trial: plan(1000), anonymous: ANONYMOUS };

/** Last month: a customer with two keys on basic, a key alone on trial, one who sent nothing. */
async function lastMonth(t: Test) {
  let nowMs = START_MS - DAY_MS;
  const plans = toPlans(plansFile.parse(TODAY));
  const listener = await operator(t, {}, { plans: () => plans, clock: () => Promise.resolve(nowMs) });
  const { engine, registry } = listener;
  engine.setPlans(plans);
  const { id: customer } = await registry.customers.create({ name: '<b>Shop</b>', plan: 'basic' }, 'test');
  await registry.customers.create({ name: 'Silent', plan: 'basic' }, 'test');
  const made = await Promise.all(
    [
      { customer, name: 'one' },
      { customer, name: 'two' },
      { plan: 'trial', name: 'alone' },
    ].map((body) => registry.create(body)),
  );
  const [one = '', two = '', alone = ''] = made.map(({ token }) => token);
  const send = (token: string, day: number, cost: number) => {
    nowMs = START_MS + (day - 1) * DAY_MS + DAY_MS / 2;
    return engine.admit([requestWith(token, { operation: 'createPet', cost, nowMs })]);
  };
  await send(one, 3, DAYS * 10);
  await send(two, 3, 40);
  await send(one, 4, 60);
  await send(alone, 4, 7);
  nowMs = Date.now();
  return { ...listener, customer, alone: made[2]!.record.id };
}

t.test('plans are tried on a month of the ledger: days, months and what is owed', async (t) => {
  const { ask, customer, alone, registry, folder, run } = await lastMonth(t);
  const next = {
    basic: plan(100, { ...PRICE, monthly: DAYS * 200 }),
    trial: { ...plan(1000), operations: { createPet: { day: 5 } } },
    anonymous: ANONYMOUS,
  };
  const { status, json } = await ask('POST', PATH, next);
  t.equal(status, 200, JSON.stringify(json));
  const shop = { plan: 'basic', payer: customer, name: '<b>Shop</b>' };
  const base = DAYS * 100;
  t.match(json, {
    from: `${MONTH}-01`,
    final: true,
    plans: [
      {
        ...{ plan: 'basic', payer: null, above: DAYS * 10 + 40 - 100, after: { units: 160 } },
        before: { requests: 3, units: DAYS * 10 + 100, refused: 0 },
      },
      { plan: 'trial', above: 2, before: { units: 7 }, after: { units: 5 } },
    ],
    excesses: [
      { ...shop, window: 'day', day: `${MONTH}-03`, limit: 100, units: DAYS * 10 - 60 },
      { payer: alone, window: 'createPet-day', day: `${MONTH}-04`, limit: 5, units: 2 },
    ],
    missingPlans: {},
  });
  const [first, ...others] = json['payers'] as readonly Readonly<Record<string, unknown>>[];
  t.match(first, { ...shop, owed: { before: { overage: 100, amount: base + 300 }, after: { base: 2 * base } } });
  // 160 units of 280 or more that are included.
  t.match(first, { owed: { after: { overage: 0, amount: 2 * base } } });
  t.match(
    others.find(({ name }) => name === 'Silent'),
    { above: 0, owed: { before: { amount: base }, after: { amount: 2 * base } } },
    'the base is owed by whoever has the plan',
  );
  t.match(json['owed'], { before: [{ amount: 2 * base + 300 }], after: [{ amount: 4 * base }] });
  t.equal(others.length, 2);

  await registry.customers.correct(customer, { day: `${MONTH}-04`, units: -100, reason: 'a fault of ours' }, 'test');
  const corrected = await ask('POST', PATH, next);
  t.match(corrected.json['owed'], { before: [{ amount: 2 * base }] }, 'corrections count');
  const same = await ask('POST', PATH, TODAY);
  t.match(
    same.json,
    { payers: [], excesses: [], plans: [{ above: 0 }, { above: 0 }] },
    'plans of today change nothing',
  );

  const file = join(folder, 'new.yaml');
  writeFileSync(file, stringify(next));
  const rehearse = (...args: readonly string[]) => run('plans', 'rehearse', file, ...args);
  const said = await rehearse('--ledger', MONTH);
  t.match(said, { code: 0, stderr: '' });
  t.match(said.stdout, new RegExp(`^basic +3 +0 +${DAYS * 10 + 100} +160 +${DAYS * 10 - 60} +`, 'm'));
  t.match(said.stdout, new RegExp(`${alone} alone +trial +createPet-day +${MONTH}-04 +5 +2\n`));
  t.match(said.stdout, new RegExp(`Owed: ${2 * DAYS}\\.00 EUR, then ${4 * DAYS}\\.00 EUR\\.`));
  t.match(said.stdout, /Only days and months/);
  t.match(JSON.parse((await rehearse('--ledger', MONTH, '--json')).stdout), { final: true });
  t.match(await rehearse('--ledger', '2026-13'), { code: 1, stderr: /must be a month such as 2026-11/ });
  t.match(await rehearse(), { code: 2, stderr: /either --log or --ledger/ });
  t.match(await rehearse('--ledger', MONTH, '--today', file), { code: 2, stderr: /--today is for --log/ });
  writeFileSync(file, stringify({ basic: next.basic, anonymous: ANONYMOUS }));
  t.match(await rehearse('--ledger', MONTH), { code: 1, stderr: /lacks plans .*: trial \(1 requests\)/ });
});

t.test('plans that are none, or too long, get an answer that says why', async (t) => {
  const { ask } = await listen(t);
  const refused = async (body: unknown, path = PATH) => (await ask('POST', path, body)).json;
  t.match(await refused({ basic: plan(0), anonymous: ANONYMOUS }), {
    ...{ status: 400, code: 'invalid_plans' },
    message: /basic\.limits/,
  });
  const dear = { ...plan(3), operations: { createPet: { cost: 4 } } };
  t.match(await refused({ basic: dear, anonymous: ANONYMOUS }), { message: /createPet costs 4, and the day holds 3/ });
  t.match(await refused('x'.repeat(2 ** 20 + 1)), { status: 413, code: 'body_too_large' });
  t.match(await refused({}, '/admin/v1/plans/rehearse'), { status: 400, message: /give a month such as 2026-11/ });
});
