import t from 'tap';
import { parseToken } from '../../../../src/gateway/accounts/token.js';
import { until } from '../../../servers/until.js';
import { openConsole, type Visitor } from '../visitor.js';

/** A page with all days: on a busy machine, the first may be without today. */
async function complete(person: Visitor, path: string): ReturnType<Visitor['get']> {
  let reply = await person.get(path);
  await until('the days are read', async () => !(reply = await person.get(path)).text.includes('still reading'));
  return reply;
}

t.test('usage is shown by customer, with names, corrections, a plot and a download', async (t) => {
  const { registry, engine, signedIn } = await openConsole(t);
  const customer = await registry.customers.create({ name: '<b>Acme</b>', plan: 'free' }, 'test');
  const { token } = await registry.create({ customer: customer.id, name: 'shop' });
  const subject = { kind: 'key' as const, ...parseToken(token, 'staging', false)! };
  await engine.admit([{ subject, operation: 'listPets', scope: null, cost: 3 }]);
  await registry.customers.correct(customer.id, { day: new Date().toISOString().slice(0, 10), units: -2, reason: 'x' });
  const person = await signedIn();
  const { status, text } = await complete(person, '/console/usage');
  t.equal(status, 200);
  t.match(text, 'aria-current="page">Usage');
  t.match(text, '&lt;b>Acme&lt;/b>');
  t.match(text, /growing/);
  t.match(text, /corrected units/);
  t.match(text, /<svg[^>]+Units per day by customer/);
  t.match(text, /aria-label="Totals">.*?units<\/span><span class="figure">3</);
  t.ok(text.indexOf('"Totals"') < text.indexOf('Units per day'), 'totals come first');
  const csv = await person.get(/href="([^"]+report\.csv[^"]*)"/.exec(text)![1]!.replaceAll('&amp;', '&'));
  t.match(csv.headers['content-type'], 'text/csv');
  t.match(csv.text, `${customer.id},,<b>Acme</b>,1,3,0,0,0,0,0,-2`);
  const wrong = await person.get('/console/usage?from=2026-02-31');
  t.equal(wrong.status, 400);
  t.match(wrong.text, /role="alert"/);
  t.equal((await (await signedIn('read')).get('/console/usage')).status, 403, 'for billing and operators alone');
});

t.test('a long table has pages and an order that its address keeps, and files are named by month', async (t) => {
  const { registry, engine, signedIn } = await openConsole(t);
  for (let n = 1; n <= 60; n += 1) {
    const { token } = await registry.create({ plan: 'pro', name: `app-${n}.` });
    const subject = { kind: 'key' as const, ...parseToken(token, 'staging', false)! };
    await engine.admit([{ subject, operation: 'listPets', scope: null, cost: n }]);
  }
  const person = await signedIn();
  const { text } = await complete(person, '/console/usage?by=key&sort=-units');
  t.match(text, 'Page 1 of 2');
  t.match(text, /aria-sort="descending"><a href="[^"]+sort=units">units/, 'another click turns the order round');
  const names = (html: string): readonly string[] =>
    html.slice(html.indexOf('<caption>Usage by key')).match(/app-\d+(?=\.)/g) ?? [];
  t.same(names(text).slice(0, 2), ['app-60', 'app-59']);
  t.equal(names(text).length, 50);
  const next = /href="([^"]+)">Next page/.exec(text)![1]!.replaceAll('&amp;', '&');
  t.same(names((await person.get(next)).text).slice(-2), ['app-2', 'app-1']);
  t.same(names((await person.get('/console/usage?by=key&sort=name')).text).slice(0, 2), ['app-1', 'app-10']);
  const found = (await person.get('/console/usage?by=key&search=APP-6.')).text;
  t.same(names(found), ['app-6'], 'a search finds a part of a name in any case');
  t.match(found, '<caption>Usage by key: 1 matches');
  t.match((await person.get('/console/usage?by=key&search=nothing')).text, 'No matches.');
  t.match(text, /<title>[^<]*other [\d,]+/, 'the plot has the seven largest, and the rest');
  t.equal((await person.get('/console/usage?by=key&sort=%27&page=99')).status, 200, 'an unknown order is none');
  const csv = await person.get('/console/usage/report.csv?from=2026-10-01&to=2026-10-31&by=customer');
  t.match(csv.headers['content-disposition'], 'filename="usage-2026-10-customer.csv"');
});

t.test('days that are still being read are missing from the page, which says so', async (t) => {
  const report = async function* (): AsyncGenerator<Buffer, void> {
    await new Promise(() => undefined);
  };
  const { signedIn } = await openConsole(t, { report });
  const person = await signedIn();
  const { status, text } = await person.get('/console/usage?from=2026-10-01&to=2026-10-31&by=key&page=1');
  t.equal(status, 200);
  t.match(text, 'still reading 31 days of the ledger');
  t.match(text, 'incomplete</span>');
  t.notMatch(text, /final<\/span>/);
  const again = /href="([^"]+)">Reload/.exec(text)![1]!;
  t.match(again, /from=2026-10-01&amp;to=2026-10-31&amp;by=key/, 'a reload shows the same range');
});
