import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { PAGES } from '../../../src/gateway/console/pages.js';
import { packageRoot } from '../../../src/shared/package-root.js';
import { startBrowser } from '../../servers/browser.js';
import { startGateway, type Gateway } from '../../servers/gateway.js';
import { startReceiver } from '../../servers/receiver.js';
import { startRedis } from '../../servers/redis.js';
import { Person } from './person.js';
import { TASKS, type Cast } from './tasks.js';

const price = { monthly: 3000, included: 1000, per_unit: 2, currency: 'EUR' };
const ban = { after: 30 };
/** Of a key and a customer. */
const NAME = '<script>alert(1)</script>';
const PLANS = {
  basic: { limits: { minute: 60, day: 1000 }, ban, price },
  pro: { limits: { minute: 300, day: 10_000 }, ban, price },
  small: { limits: { minute: 300, day: 20 }, ban },
  anonymous: { limits: { minute: 300, day: 10_000 }, ban },
};

t.setTimeout(600_000);
const redis = await startRedis();
t.teardown(() => redis.stop());
const receiver = await startReceiver(t);
const environment = {
  // Nobody listens there.
  PETS_URL: 'http://127.0.0.1:9',
  PETGATE_EVENTS_URL: receiver.url,
  PETGATE_EVENTS_ALLOW_LOCAL: 'true',
  PETGATE_EVENTS_SECRET: `whsec_${Buffer.alloc(32, 'x').toString('base64')}`,
};
const gateways = {
  embedded: await startGateway(t, { plans: PLANS, environment }),
  redis: await startGateway(t, { plans: PLANS, environment: { ...environment, REDIS_URL: redis.url } }),
};
const casts = { embedded: await castOf(gateways.embedded), redis: await castOf(gateways.redis) };
// One for all tasks: each new one costs a process.
const page = await (await (await startBrowser(t)).newContext({ javaScriptEnabled: false })).newPage();

async function castOf({ admin, createKey, url }: Gateway): Promise<Cast> {
  const customerOf = async (name: string): Promise<string> =>
    ((await admin('POST', '/admin/v1/customers', { name, plan: 'basic' })).body as { id: string }).id;
  const { id: key } = await createKey({ plan: 'basic', name: NAME });
  const { id: banned } = await createKey({ plan: 'basic', name: 'Other app', expires: '2099-01-01' });
  await admin('POST', '/admin/v1/tokens', { name: 'Billing run', role: 'billing' });
  for (const [name, path, times] of [
    ['Eager app', '/v1/nothing', 25],
    ['Unlucky app', '/v1/pets', 8],
  ] as const) {
    const headers = { authorization: `Bearer ${(await createKey({ plan: 'small', name })).key}` };
    for (let n = 0; n < times; n += 1) await fetch(url + path, { headers });
  }
  const refused = await fetch(`${url}/v1/pets`);
  return {
    ...{ key, banned, customer: await customerOf(NAME), leaver: await customerOf('Leaver') },
    refused: refused.headers.get('x-request-id')!,
  };
}

t.test('every page is whole without JavaScript, and names are text on it', async (t) => {
  const { adminUrl } = gateways.embedded;
  const { key, customer, refused } = casts.embedded;
  await Person.signedIn(page, adminUrl);
  const paths = PAGES.filter(({ menu }) => menu !== undefined).map(({ path }) => path);
  const more = [`keys/${key}`, 'keys/new', `customers/${customer}`, `usage?by=key`, `why?id=${refused}`, 'nothing'];
  let named = 0;
  for (const path of [...paths, ...more.map((each) => `/console/${each}`)]) {
    const text = (await (await page.goto(adminUrl + path))!.text()).toLowerCase();
    t.notMatch(text, NAME, path);
    t.ok((await page.innerText('main')).length > 50, path);
    if (text.includes('&lt;script>alert')) named += 1;
  }
  t.ok(named >= 5, `${named} pages have the name`);
});

/** Every task begins with the click on "Sign in", which the rows leave out. */
const rows: string[] = [];
const clicksOf = new Map<string, number>();
for (const { name, on, act } of TASKS)
  t.test(`${name} ${on.join(', ')}`, async (t) => {
    for (const engine of on) {
      const person = await Person.signedIn(page, gateways[engine].adminUrl);
      const done = await act(person, casts[engine]);
      t.match(await person.text(), done);
      const [first, ...more] = person.clicks;
      t.equal(first, 'Sign in');
      const row = `| ${name} | ${more.map((click) => `*${click}*`).join(', ') || 'none'} |`;
      if (!rows.includes(row)) rows.push(row);
      clicksOf.set(name, Math.max(clicksOf.get(name) ?? 0, person.clicks.length));
    }
  });

t.test('the guide says which clicks each task takes', (t) => {
  const guide = readFileSync(join(packageRoot, 'docs/guides/console.md'), 'utf8');
  t.same(
    guide
      .match(/(?<=\| task \| clicks .*\n\|(?:---\|)+\n)(?:\|.*\n)+/)?.[0]
      .trimEnd()
      .split('\n'),
    rows,
  );
  t.ok(clicksOf.get('hand a key to a developer')! <= 3);
  t.ok(clicksOf.get('why was this request refused?')! <= 2);
  t.end();
});
