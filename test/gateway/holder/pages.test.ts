import t from 'tap';
import type { Test } from 'tap';
import { dayOf } from '../../../src/shared/utc-day.js';
import { monthEndMs, monthStartMs } from '../../../src/shared/utc-month.js';
import { petgate, surroundings } from '../../cli/programs.js';
import { ADMIN_TOKEN, startGateway, type Gateway } from '../../servers/gateway.js';
import { startRedis } from '../../servers/redis.js';
import { until } from '../../servers/until.js';
import { startUpstream } from '../../servers/upstream.js';
import { ACCOUNT, Visitor } from './browser-like.js';

const PLANS = {
  sold: {
    limits: { minute: 60, day: 1000 },
    ban: { after: 30 },
    price: { monthly: 3000, included: 2, per_unit: 7, currency: 'EUR' },
  },
  free: { limits: { minute: 60, day: 1000 }, ban: { after: 30, within: '60s', for: '5m', factor: 2, cap: '24h' } },
  anonymous: { limits: { minute: 5, day: 1000 }, ban: { after: 30, within: '60s', for: '5m', factor: 2, cap: '24h' } },
};

async function eachEngine(t: Test, story: (t: Test, gateway: Gateway) => Promise<void>): Promise<void> {
  const redis = await startRedis();
  t.teardown(() => redis.stop());
  for (const [name, environment] of [
    ['embedded', {}],
    ['redis', { REDIS_URL: redis.url }],
  ] as const)
    await t.test(name, async (t) => {
      const upstream = await startUpstream(t);
      await story(t, await startGateway(t, { plans: PLANS, environment: { ...environment, PETS_URL: upstream.url } }));
    });
}

t.test('the holder of a key signs in and sees it; what operators do to it holds for the next page', async (t) => {
  await eachEngine(t, async (t, gateway) => {
    const { id, key } = await gateway.createKey({
      plan: 'free',
      name: '<script>alert(1)</script>',
      note: 'of operators',
    });
    const visitor = new Visitor(gateway);
    const before = await visitor.get();
    t.equal(before.status, 200);
    t.match(before.text, /name="key"/);
    t.match(before.headers.get('content-security-policy'), /default-src 'none'.*frame-ancestors 'none'/);
    const signedIn = await visitor.signIn(key);
    t.equal(signedIn.status, 303, signedIn.text);
    t.equal(signedIn.headers.get('location'), ACCOUNT);
    t.match(
      signedIn.headers.get('set-cookie'),
      /^petgate-account=v1\.[\w-]+; Path=\/account; HttpOnly; SameSite=Strict$/,
    );
    const page = await visitor.get();
    t.equal(page.status, 200);
    t.match(page.text, id);
    t.match(page.text, '&lt;script>alert(1)');
    t.notMatch(page.text, /<script|of operators/);
    t.equal(page.headers.get('cache-control'), 'no-store');
    t.equal(page.headers.get('x-ratelimit-limit'), '60', 'the figures of the key');
    t.equal(page.headers.get('x-ratelimit-remaining'), '60', 'and a page costs nothing');
    t.notOk(page.text.includes(key));
    await gateway.admin('PUT', `/admin/v1/bans/${id}`, { for: '1h', reason: 'of operators' });
    const banned = await visitor.get();
    t.match(banned.text, /banned until/);
    t.notMatch(banned.text, 'of operators');
    await gateway.admin('DELETE', `/admin/v1/keys/${id}`);
    const revoked = await visitor.get();
    t.match(revoked.text, /name="key"/);
    t.notMatch(revoked.text, id);
    t.equal((await visitor.signIn(key)).status, 401);
  });
});

t.test('what is owed this month is what the report says, of all keys of the customer and of nobody else', async (t) => {
  await eachEngine(t, async (t, gateway) => {
    const customers = await Promise.all(
      ['Acme', 'Other'].map(async (name) => {
        const { body } = await gateway.admin('POST', '/admin/v1/customers', { name, plan: 'sold' });
        return (body as { id: string }).id;
      }),
    );
    const [acme = '', other = ''] = customers;
    const keys = await Promise.all([acme, acme, other].map((customer) => gateway.createKey({ customer })));
    const [{ key: one }, { key: two }, { key: foreign }] = keys as [
      (typeof keys)[0],
      (typeof keys)[0],
      (typeof keys)[0],
    ];
    const ask = (path: string, key: string) =>
      fetch(gateway.url + path, { headers: { authorization: `Bearer ${key}` } });
    for (const key of [one, one, one, two, two, foreign]) await ask('/v1/pets', key);
    const day = dayOf(Date.now());
    for (const [customer, units] of [
      [acme, 4],
      [other, 100],
    ])
      await gateway.admin('POST', '/admin/v1/usage/corrections', { customer, day, units, reason: 'a test' });

    let bill: Readonly<Record<string, unknown>> = {};
    await until('it is added up', async () => {
      const own = (await (await ask('/v1/usage', one)).json()) as { bill?: typeof bill };
      bill = own.bill ?? {};
      return own.bill !== undefined;
    });
    const nowMs = Date.now();
    const month = `from=${dayOf(monthStartMs(nowMs))}&to=${dayOf(monthEndMs(nowMs) - 1)}`;
    const { body } = await gateway.admin('GET', `/admin/v1/usage?${month}&by=customer&customer=${acme}`);
    const [row] = (body as { rows: readonly Readonly<Record<string, unknown>>[] }).rows;
    for (const field of ['currency', 'base', 'included', 'overage', 'amount'])
      t.equal(bill[field], row?.[field], `${field} of the report`);
    t.equal(bill['units'], 9, 'three of one key, two of the other, four by hand');
    t.equal(bill['overage'], 9 - Number(bill['included']));

    const visitor = new Visitor(gateway);
    await visitor.signIn(two);
    const { text } = await visitor.get();
    t.match(
      text,
      new RegExp(`Owed this month by <bdi>Acme</bdi>.*${(Number(bill['amount']) / 100).toFixed(2)} EUR`, 's'),
    );
    t.notMatch(text, /Other/);
  });
});

t.test('a wrong key costs the address a token, as any 401', async (t) => {
  await eachEngine(t, async (t, gateway) => {
    const { key } = await gateway.createKey({ plan: 'free' });
    const visitor = new Visitor(gateway);
    const wrong = `${key.slice(0, -1)}${key.endsWith('A') ? 'B' : 'A'}`;
    for (let left = 4; left >= 0; left -= 1) {
      const answer = await visitor.signIn(left % 2 === 0 ? wrong : `nonsense ${left}`);
      t.equal(answer.status, 401);
      t.match(answer.text, /API key is not valid/);
      t.equal(answer.headers.get('x-ratelimit-remaining'), String(left));
    }
    const limited = await visitor.signIn(wrong);
    t.equal(limited.status, 429);
    t.match(limited.text, /<h1>Too many requests/);
    t.ok(limited.headers.get('retry-after'));
    t.equal((await visitor.signIn(key)).status, 303, 'who holds a key is not held to it');
  });
});

t.test('a key is rotated once, and shown once', async (t) => {
  await eachEngine(t, async (t, gateway) => {
    const { id, key } = await gateway.createKey({ plan: 'free' });
    const visitor = new Visitor(gateway);
    await visitor.signIn(key);
    const [form, cookie] = [await visitor.formToken(), visitor.cookie];
    const rotated = await visitor.post(`${ACCOUNT}/rotate`, { form, overlap: '0s' });
    t.equal(rotated.status, 200);
    const next = /ptg_\w+/.exec(rotated.text)?.[0] ?? '';
    t.not(next, key);
    const status = async (token: string): Promise<number> =>
      (await fetch(`${gateway.url}/v1/usage`, { headers: { authorization: `Bearer ${token}` } })).status;
    t.same([await status(key), await status(next)], [401, 200]);
    t.match((await visitor.get()).text, id, 'still signed in');
    t.equal((await visitor.post(`${ACCOUNT}/rotate`, { form, overlap: '0s' })).status, 403, 'the form came before');
    visitor.cookie = cookie;
    t.equal((await visitor.post(`${ACCOUNT}/rotate`, { form, overlap: '0s' })).status, 401, 'of a key that is gone');
    t.equal(await status(next), 200);
    const { body } = await gateway.admin('GET', `/admin/v1/keys/${id}/history`);
    t.match(JSON.stringify(body), /"actor":"key holder","action":"rotated"/);
  });
});

t.test('only the newest secret may rotate; one that is about to end may view', async (t) => {
  await eachEngine(t, async (t, gateway) => {
    const { id, key: old } = await gateway.createKey({ plan: 'free' });
    const [thief, owner] = [new Visitor(gateway), new Visitor(gateway)];
    await thief.signIn(old);
    const form = await thief.formToken();
    await owner.signIn(old);
    const { text } = await owner.post(`${ACCOUNT}/rotate`, { form: await owner.formToken(), overlap: '24h' });
    const next = /ptg_\w+/.exec(text)?.[0] ?? '';
    const refused = await thief.post(`${ACCOUNT}/rotate`, { form, overlap: '0s' });
    t.match(refused, { status: 403, text: /A newer secret replaced this one/ });
    const late = new Visitor(gateway);
    t.equal((await late.signIn(old)).status, 303);
    const page = await late.get();
    t.match(page, { status: 200, text: new RegExp(id) }, 'it may view');
    t.notMatch(page.text, '/rotate');
    t.equal((await late.post(`${ACCOUNT}/rotate`, { form: await late.formToken(), overlap: '0s' })).status, 403);
    const holder = new Visitor(gateway);
    await holder.signIn(next);
    t.equal((await holder.post(`${ACCOUNT}/rotate`, { form: await holder.formToken(), overlap: '0s' })).status, 200);
  });
});

t.test('signing out ends the session, also for a copy of its cookie', async (t) => {
  await eachEngine(t, async (t, gateway) => {
    const { id, key } = await gateway.createKey({ plan: 'free' });
    const [visitor, thief, other] = [new Visitor(gateway), new Visitor(gateway), new Visitor(gateway)];
    await visitor.signIn(key);
    await other.signIn(key);
    const form = await visitor.formToken();
    thief.cookie = visitor.cookie;
    t.match((await thief.get()).text, id);
    t.equal((await visitor.post(`${ACCOUNT}/sign-out`, { form })).status, 303);
    t.notMatch((await thief.get()).text, id);
    t.equal((await thief.post(`${ACCOUNT}/rotate`, { form, overlap: '0s' })).status, 401);
    t.match((await other.get()).text, id, 'another session stays');
  });
});

t.test('all sessions are ended at once, and keys stay good', async (t) => {
  await eachEngine(t, async (t, gateway) => {
    const { id, key } = await gateway.createKey({ plan: 'free' });
    const visitor = new Visitor(gateway);
    await visitor.signIn(key);
    t.match((await visitor.get()).text, id);
    const environment = { ADMIN_PORT: new URL(gateway.adminUrl).port, PETGATE_ADMIN_TOKEN: ADMIN_TOKEN };
    t.match(await petgate(['sessions', 'end'], surroundings(gateway.dataFolder, environment)), {
      code: 0,
      stdout: 'All sessions are over: everybody has to sign in again.\n',
    });
    t.notMatch((await visitor.get()).text, id);
    t.equal((await visitor.signIn(key)).status, 303);
    t.match((await visitor.get()).text, id);
  });
});

t.test('forms of elsewhere do nothing', async (t) => {
  const gateway = await startGateway(t, { plans: PLANS });
  const { key } = await gateway.createKey({ plan: 'free' });
  const visitor = new Visitor(gateway);
  for (const origin of ['https://evil.example', 'null', 'http://127.0.0.1:1'])
    t.equal((await visitor.post(ACCOUNT, { key }, { origin })).status, 403);
  await visitor.signIn(key);
  const form = await visitor.formToken();
  const other = new Visitor(gateway);
  await other.signIn(key);
  for (const [fields, headers] of [
    [{ form, overlap: '0s' }, { origin: 'https://evil.example' }],
    [{ form: await other.formToken(), overlap: '0s' }, {}],
    [{ overlap: '0s' }, {}],
    [{ form, overlap: '100d' }, {}],
    [{ form, overlap: '0s' }, { 'content-type': 'text/plain' }],
  ] as const)
    t.equal((await visitor.post(`${ACCOUNT}/rotate`, fields, headers)).status, 403);
  t.equal((await visitor.post(`${ACCOUNT}/rotate`, { form, key: 'x'.repeat(5_000) })).status, 413);
  t.equal((await visitor.post(`${ACCOUNT}/nothing`, { form })).status, 404);
  t.equal((await visitor.post(`${ACCOUNT}/sign-out`, { form })).status, 303);
  t.equal(visitor.cookie, '');
});
