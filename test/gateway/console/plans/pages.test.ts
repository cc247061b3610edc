import t from 'tap';
import type { Plan } from '../../../../src/gateway/admission/plan.js';
import { NO_BAN } from '../../admission/ban.js';
import { openConsole } from '../visitor.js';

t.test('plans are shown with limits and who is on them', async (t) => {
  const { registry, signedIn } = await openConsole(t);
  const { get } = await signedIn();
  await registry.create({ name: 'My app', plan: 'free' });
  const { status, text } = await get('/console/plans');
  t.equal(status, 200);
  t.match(text, /<a href="\/console\/keys\?plan=free">1<\/a>/);
  t.match(text, '60 per minute, 1,000 per day');
});

t.test('prices are shown as they are paid, whatever coins the currency has', async (t) => {
  const plan = (name: string, currency: string): [string, Plan] => [
    name,
    {
      ...{ name, limits: { minute: 60, day: 1_000 }, refill: 'interval', ban: NO_BAN },
      concurrency: 12,
      price: { monthly: 1_900, included: 10_000, perUnit: 2, currency },
    },
  ];
  const { signedIn } = await openConsole(t, {}, { plans: () => new Map([plan('euro', 'EUR'), plan('yen', 'JPY')]) });
  const { get } = await signedIn();
  const { text } = await get('/console/plans');
  t.match(text, '19.00 EUR a month, 10,000 units included, 0.02 EUR for each more');
  t.match(text, 'data-label="In flight">12</td>', 'requests in flight');
  t.match(text, '1,900 JPY a month, 10,000 units included, 2 JPY for each more');
});

t.test('other plans are tried on a month, and what is wrong with them is named by line', async (t) => {
  const { registry, ask, signedIn } = await openConsole(t);
  const { get, submit } = await signedIn();
  const page = '/console/plans/rehearse';
  t.match((await get('/console/plans')).text, `href="${page}"`);
  const { text } = await get(`${page}?file=true`);
  t.match(text, /<textarea [^>]*name="plans"[^>]*>[^<]*anonymous:/, 'it begins with the plans file as it is');
  t.match(text, /<input [^>]*name="month" type="month"/);

  const { record } = await registry.create({ name: '<script>alert(1)</script>', plan: 'free' });
  const today = new Date().toISOString().slice(0, 10);
  await ask('POST', '/admin/v1/usage/corrections', { key: record.id, day: today, units: 3, reason: 'a test' });
  const plan = (price: string) => `{ limits: { minute: 9, day: 90 }, ban: { after: 30 }${price} }`;
  const file = (price: string) => `free: ${plan(price)}\nanonymous: ${plan('')}\n`;
  const rehearse = (plans: string, month = today.slice(0, 7)) => submit(`${page}?file=true`, page, { plans, month });
  const good = await rehearse(file(', price: { per_unit: 5, currency: EUR }'));
  t.equal(good.status, 200);
  t.match(good.text, '&lt;script>');
  t.notMatch(good.text, '<script>alert');
  t.match(good.text, /Owed in all: nothing that is known; with the new plans 0\.15 EUR\./);
  t.match(good.text, 'The new days and months allow everything that was used.');

  const bad = await rehearse(file('').replace('9,', 'nine,'));
  t.equal(bad.status, 400);
  t.match(bad.text, /<li>plans:1:\d+: free\.limits/);
  t.match(bad.text, 'minute: nine', 'and what was entered stays');
  t.match((await rehearse('free: {\n')).text, /<li>plans:2:1: the indentation/);
  t.match((await rehearse(file(''), 'never')).text, /must be a month such as 2026-11/);

  const figures = `${page}?plan=free`;
  t.match((await get('/console/plans')).text, `<a href="${figures}">Try other figures</a>`);
  t.match(
    (await get(page)).text,
    /aria-current="page">free<.*name="limits.minute"[^>]* value="60".*name="price.currency"/,
  );
  const price = { 'price.included': '1', 'price.per_unit': '5', 'price.currency': 'EUR' };
  const edited = { month: today.slice(0, 7), 'limits.minute': '9', 'limits.day': '4', ...price };
  const tried = await submit(figures, page, edited);
  t.equal(tried.status, 200);
  t.match(tried.text, /with the new plans 0\.10 EUR\./, 'two units beyond the one included');
  t.match(
    tried.text,
    /name="limits.day"[^>]* value="4".*name="price.per_unit"[^>]* value="5"/,
    'what was entered stays',
  );
  const wrong = await submit(figures, page, { ...edited, 'limits.day': 'none' });
  t.match(wrong, { status: 400, text: /<li>free\.limits\.day: must be a whole number/ });
  t.match(wrong.text, /name="limits.day"[^>]* value="none".*<p class="problem">must be a whole number/);

  const reader = await signedIn('read');
  t.notMatch((await reader.get('/console/plans')).text, page, 'it is not offered to who may not');
  t.equal((await reader.get(page)).status, 403);
});
