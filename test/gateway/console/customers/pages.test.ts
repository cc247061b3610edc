import t from 'tap';
import { NO_BAN } from '../../admission/ban.js';
import { DAY_MS } from '../../../../src/shared/utc-day.js';
import { openConsole } from '../visitor.js';

const NAME = '<b>Shop</b>';

t.test('a customer is created, found by its reference, and shown with its keys', async (t) => {
  const { registry, signedIn } = await openConsole(t);
  const { get, submit } = await signedIn();
  const fields = { name: NAME, plan: 'pro', reference: 'cus_1' };
  const page = await submit('/console/customers/new', '/console/customers', fields);
  t.equal(page.status, 200);
  const { id } = (await registry.customers.list({}, null, 10)).records[0]!;
  const { record } = await registry.create({ name: 'Their app', customer: id });
  t.match((await get('/console/customers?search=cus_1')).text, `/console/customers/${id}`);
  t.match((await get('/console/customers?search=%3CB%3Es')).text, `/console/customers/${id}`, 'by its name');
  t.match((await get(`/console/customers?search=${id}`)).headers, { location: `/console/customers/${id}` });
  const { text } = await get(`/console/customers/${id}`);
  t.match(text, `/console/keys/${record.id}`);
  t.notMatch(text, NAME);
  t.match(text, '&lt;b>Shop');
});

t.test('the customers of a plan are listed, as the page of plans links to them', async (t) => {
  const { registry, signedIn } = await openConsole(t);
  const { get } = await signedIn();
  const [one, other] = [
    await registry.customers.create({ name: 'One', plan: 'pro' }, 'test'),
    await registry.customers.create({ name: 'Other', plan: 'free' }, 'test'),
  ];
  t.match((await get('/console/plans')).text, '<a href="/console/customers?plan=pro">1</a>');
  const { text } = await get('/console/customers?plan=pro');
  t.match(text, one.id);
  t.notMatch(text, other.id);
});

t.test('what is done to a customer holds for all its keys', async (t) => {
  const { registry, engine, signedIn } = await openConsole(t);
  const { submit } = await signedIn();
  const { id } = await registry.customers.create({ name: 'Shop', plan: 'pro' }, 'test');
  const { record } = await registry.create({ name: 'Their app', customer: id });
  const path = `/console/customers/${id}`;
  const act = (name: string, fields = {}) => submit(path, `${path}/${name}`, fields);
  t.match((await act('banned', { for: '1h', reason: 'unpaid' })).text, 'Banned');
  t.equal((await engine.bans.read(record.id))?.note?.reason, 'unpaid');
  t.match((await act('lifted')).text, 'The bans are lifted');
  t.match(await act('lifted'), { status: 400, text: 'No ban of this key is in force' });
  t.match(await act('changed', { name: '', plan: 'free', reference: '', note: '' }), { status: 400 });
  t.equal((await registry.customers.get(id)).plan, 'pro', 'all of a form or nothing');
  await act('changed', { name: 'Shop', plan: 'free', reference: 'cus_2', note: '' });
  t.match(await registry.customers.get(id), { plan: 'free', reference: 'cus_2' });
  await act('closed');
  t.equal((await registry.customers.get(id)).status, 'closed');
});

t.test('usage is corrected with a reason, beside what was counted, by those who may', async (t) => {
  const { registry, ask, signedIn } = await openConsole(t);
  const { id } = await registry.customers.create({ name: 'Shop', plan: 'pro' }, 'test');
  const { submit } = await signedIn('billing');
  const path = `/console/customers/${id}`;
  const day = new Date().toISOString().slice(0, 10);
  const correct = (fields: object) => submit(path, `${path}/corrected`, { plan: '', requests: '', ...fields });
  t.match(await correct({ day, units: '-5', reason: '' }), { status: 400, text: /reason/ });
  t.match(await correct({ day, units: '1.5', reason: 'x' }), { status: 400, text: /must be a whole number/ });
  t.match((await correct({ day, units: '-5', reason: NAME })).text, /Corrected.*-5<.*&lt;b>Shop/s);
  const { corrections } = (await ask('GET', `/admin/v1/usage/corrections?customer=${id}`)).json;
  t.match(corrections, [{ customer: id, key: null, day, units: -5, requests: 0, plan: 'pro', by: /^A billing/ }]);
  t.equal((corrections as unknown[]).length, 1);
});

t.test('billing sees customers, without what it may not see of them', async (t) => {
  const { registry, signedIn } = await openConsole(t);
  const { id } = await registry.customers.create({ name: 'Shop', plan: 'pro' }, 'test');
  const { get } = await signedIn('billing');
  const { status, text } = await get(`/console/customers/${id}`);
  t.equal(status, 200);
  t.match(text, 'The bill of this month');
  t.notMatch(text, /<h2>Keys|\/(?:changed|granted|closed)"/);
  t.equal((await get('/console/keys')).status, 403);
});

t.test('a customer’s page has this month’s bill so far, and leads to the correction of an earlier month', async (t) => {
  const price = { monthly: 1_900, included: 10_000, perUnit: 2, currency: 'EUR' };
  const plan = { name: 'euro', limits: { minute: 60, day: 100_000 }, refill: 'interval', ban: NO_BAN, price } as const;
  // A whole month ago: this month is charged as a whole.
  let createdMs = Date.now() - 40 * DAY_MS;
  const rules = { plans: () => new Map([['euro', plan]]), clock: () => Promise.resolve(createdMs) };
  const { clock, registry, ask, signedIn } = await openConsole(t, {}, rules);
  const { id } = await registry.customers.create({ name: 'Shop', plan: 'euro' }, 'test');
  createdMs = clock.nowMs;
  const { get } = await signedIn();
  const path = `/console/customers/${id}`;
  t.match((await get(path)).text, /Units used<\/dt><dd>0 <meter .*Sum so far<\/dt><dd>19\.00 EUR</);
  const day = new Date(clock.nowMs).toISOString().slice(0, 10);
  await ask('POST', '/admin/v1/usage/corrections', { customer: id, day, units: 12_500, reason: 'a test' });
  const { text } = await get(path);
  t.match(text, /Units used<\/dt><dd>12,500 <meter [^>]*value="125" aria-label="Used of the units included"/);
  t.match(text, /Units beyond those included<\/dt><dd>2,500<.*Sum so far<\/dt><dd>69\.00 EUR</);
  const [, link = '', month = ''] = /href="([^"#]+)#corrections">Correct (\d{4}-\d\d)/.exec(text) ?? [];
  const form = (await get(link.replaceAll('&amp;', '&'))).text;
  t.match(form, new RegExp(`<details open[^>]*><summary>Correct usage<.*name="day"[^>]*value="${month}-(?:2[89]|3)`));
});

t.test('a customer’s page leads to the bill of each earlier month, from its creation on, twelve at most', async (t) => {
  const { clock, visitor, registry } = await openConsole(t);
  const { id, createdAtMs } = await registry.customers.create({ name: 'Shop', plan: 'pro' }, 'test');
  const linksAfter = async (months: number): Promise<readonly string[]> => {
    const created = new Date(createdAtMs);
    clock.nowMs = Date.UTC(created.getUTCFullYear(), created.getUTCMonth() + months, 28, 12);
    const { get, signIn } = visitor();
    await signIn();
    const { text } = await get(`/console/customers/${id}`);
    return [...text.matchAll(/href="([^"]+)">Bill of/g)].map(([, href = '']) => href.replaceAll('&amp;', '&'));
  };
  t.strictSame(await linksAfter(0), []);
  t.equal((await linksAfter(30)).length, 12);
  const [last = '', first = '', ...more] = await linksAfter(2);
  t.equal(more.length, 0);
  const dates = new URL(first, 'http://x').searchParams;
  t.equal(dates.get('from'), `${new Date(createdAtMs).toISOString().slice(0, 7)}-01`);
  t.equal(Date.parse(dates.get('to')!) + 86_400_000, Date.parse(new URL(last, 'http://x').searchParams.get('from')!));
  t.equal(dates.get('customer'), id);
});
