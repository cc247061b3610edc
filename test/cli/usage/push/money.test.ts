import { readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import type { Test } from 'tap';
import type { Plan } from '../../../../src/gateway/admission/plan.js';
import { DAY_MS, dayOf } from '../../../../src/shared/utc-day.js';
import { monthStartMs } from '../../../../src/shared/utc-month.js';
import { BAN } from '../../../gateway/admission/ban.js';
import { operator } from '../../operator.js';
import { startReceiver } from './receiver.js';
import { dayBack, TODAY_MS } from './stage.js';

function plan(name: string, price?: Plan['price']): [string, Plan] {
  return [name, { name, limits: { minute: 1000, day: 10_000 }, refill: 'interval', ban: BAN, price }];
}

const PRICE = { monthly: 3000, included: 2, perUnit: 5, currency: 'EUR' };
const PLANS = new Map([plan('free', PRICE), plan('trial'), plan('anonymous')]);

/** What of last month is of another one's start: whoever is made then has all of it. */
const BEFORE_MS = monthStartMs(monthStartMs(TODAY_MS) - 1) - DAY_MS;
const MONTH = dayOf(BEFORE_MS + DAY_MS).slice(0, 7);

async function stage(t: Test) {
  let nowMs = BEFORE_MS;
  const listener = await operator(t, {}, { plans: () => PLANS, clock: () => Promise.resolve(nowMs) });
  listener.engine.setPlans(PLANS);
  const receiver = await startReceiver(t);
  const { registry, engine, request } = listener;
  const { id } = await registry.customers.create({ name: 'Acme', plan: 'free', reference: 'C-1' }, 'test');
  const { token, record: key } = await registry.create({ customer: id, name: 'shop' });
  const { record: tried } = await registry.create({ plan: 'trial', name: 'tried' });
  nowMs = Date.now();
  await engine.admit(Array.from({ length: 6 }, () => request(token, 'listPets', 1, BEFORE_MS + 3 * DAY_MS)));
  const push = async (...more: readonly string[]) => {
    const { code, stdout, stderr } = await listener.run('usage', 'push', '--to', receiver.url, '--json', ...more);
    t.equal(code, 0, stderr);
    return JSON.parse(stdout) as { readonly events: number; readonly corrections: number; readonly amounts: string[] };
  };
  const setClock = (atMs: number): void => void (nowMs = atMs);
  return { ...listener, receiver, customer: id, key: key.id, tried: tried.id, push, setClock };
}

t.test('each correction is an event, once, whatever day it is of', async (t: Test) => {
  const { registry, receiver, customer, key, push } = await stage(t);
  await push();
  const counted = receiver.events.size;
  const day = dayBack(0);
  await registry.correct(key, { day, units: -2, reason: 'an outage', id: 'M-1' }, 'ops');
  await registry.customers.correct(customer, { day, units: 7, requests: 1, reason: 'by mail', id: 'M-2' }, 'ops');
  t.match(await push('--batch', '1'), { events: 2, corrections: 2 });
  const common = { source: 'urn:petgate:usage', type: 'petgate.usage.correction.v1', subject: 'C-1' };
  const data = { customer, plan: 'free', day };
  t.match(receiver.events.get(`urn:petgate:usage correction=M-1&of=${key}`), {
    ...{ ...common, time: `${day}T00:00:00Z` },
    data: { ...data, key, units: -2, requests: 0, reason: 'an outage', correction: 'M-1' },
  });
  t.match(receiver.events.get(`urn:petgate:usage correction=M-2&of=${customer}`), {
    ...common,
    data: { ...data, units: 7, requests: 1, correction: 'M-2' },
  });
  t.match(await push(), { events: 0, corrections: 0 }, 'and not again');
  await registry.correct(key, { day, units: 2, reason: 'after all', id: 'M-3' }, 'ops');
  t.match(await push(), { events: 1, corrections: 1 });
  t.equal(receiver.events.size, counted + 3);
  t.equal(receiver.repeats, 0);
});

t.test('what is owed for a month is an event for each payer and plan, once it is over', async (t: Test) => {
  const { registry, receiver, customer, key, tried, push } = await stage(t);
  await registry.correct(key, { day: `${MONTH}-04`, units: -1, reason: 'an outage' }, 'ops');
  t.match(await push('--amounts'), { amounts: [MONTH] });
  t.match(receiver.events.get(`urn:petgate:usage month=${MONTH}&payer=${customer}&plan=free`), {
    ...{ type: 'petgate.usage.amount.v1', subject: 'C-1', time: `${MONTH}-01T00:00:00Z` },
    data: {
      payer: customer,
      month: MONTH,
      units: 6,
      base: 3000,
      included: 2,
      overage: 3,
      amount: 3015,
      currency: 'EUR',
    },
  });
  await registry.change(tried, { note: 'x' });
  t.notOk(
    receiver.events.has(`urn:petgate:usage month=${MONTH}&payer=${tried}&plan=trial`),
    'who sent nothing on a plan without price',
  );
  t.match(await push('--amounts'), { events: 0, amounts: [] }, 'and not again');
});

t.test('a correction is sent though the clock was behind when it was made, and says when that was', async (t: Test) => {
  const { registry, receiver, key, push, setClock } = await stage(t);
  const [day, nowMs] = [dayBack(2), Date.now()];
  await registry.correct(key, { day, units: -2, reason: 'first', id: 'M-1' }, 'ops');
  await push();
  setClock(nowMs - 3_600_000);
  await registry.correct(key, { day, units: -3, reason: 'an hour before', id: 'M-2' }, 'ops');
  t.match(await push(), { events: 1, corrections: 1 });
  const sent = receiver.events.get(`urn:petgate:usage correction=M-2&of=${key}`);
  t.match(sent?.data, { units: -3, at: new Date(nowMs - 3_600_000).toISOString() });
  t.match(await push(), { events: 0, corrections: 0 }, 'and not again');
  t.equal(receiver.repeats, 0);
});

t.test('a correction says so when the amount of its month was sent without it', async (t: Test) => {
  const { registry, receiver, key, push } = await stage(t);
  const correct = (id: string, units: number) =>
    registry.correct(key, { day: `${MONTH}-04`, units, reason: 'an outage', id }, 'ops');
  await correct('M-1', -1);
  t.match(await push('--amounts'), { amounts: [MONTH], corrections: 1 });
  await correct('M-2', -1);
  await registry.correct(key, { day: dayBack(0), units: -1, reason: 'this month', id: 'M-3' }, 'ops');
  t.match(await push('--amounts'), { amounts: [], corrections: 2 });
  const flagOf = (id: string) =>
    receiver.events.get(`urn:petgate:usage correction=${id}&of=${key}`)?.data['notInAmount'];
  t.same(['M-1', 'M-2', 'M-3'].map(flagOf), [undefined, true, undefined]);
});

t.test('what an earlier version sent is not sent again', async (t: Test) => {
  const { registry, receiver, key, push, folder } = await stage(t);
  const [day, state] = [dayBack(2), join(folder, 'push.json')];
  const first = await registry.correct(key, { day, units: -2, reason: 'sent', id: 'M-1' }, 'ops');
  await push('--state', state);
  rmSync(`${state}.corrections`);
  const { doneThrough } = JSON.parse(readFileSync(state, 'utf8')) as { readonly doneThrough: string };
  const as = (before: object): void =>
    writeFileSync(state, JSON.stringify({ version: 2, doneThrough, running: null, days: {}, ...before }));
  const id = `correction=M-1&of=${key}`;
  as({ corrections: { to: new Date(first.atMs).toISOString(), ids: [id] } });
  await registry.correct(key, { day, units: -3, reason: 'new', id: 'M-2' }, 'ops');
  t.match(await push('--state', state), { events: 1, corrections: 1 }, 'of 0.3');
  t.match(await push('--state', state), { events: 0 });
  writeFileSync(`${state}.corrections`, `${id}\n`);
  as({ corrections: null, correctionBytes: id.length + 1 });
  await registry.correct(key, { day, units: -4, reason: 'newer', id: 'M-3' }, 'ops');
  t.match(await push('--state', state), { events: 2, corrections: 2 }, 'of 0.4: M-2 again, and M-3');
  t.equal(receiver.repeats, 1);
  t.equal(receiver.contradictions, 0);
});
