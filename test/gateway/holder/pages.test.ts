import t from 'tap';
import type { Test } from 'tap';
import { startGateway, type Gateway } from '../../servers/gateway.js';
import { startRedis } from '../../servers/redis.js';
import { startUpstream } from '../../servers/upstream.js';
import { ACCOUNT, Visitor } from './browser-like.js';

const PLANS = {
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

t.test('a wrong key costs the address a token, as any 401', async (t) => {
  await eachEngine(t, async (t, gateway) => {
    const { key } = await gateway.createKey({ plan: 'free' });
    const visitor = new Visitor(gateway);
    const wrong = `${key.slice(0, -1)}${key.endsWith('A') ? 'B' : 'A'}`;
    for (let left = 4; left >= 0; left -= 1) {
      const answer = await visitor.signIn(left % 2 === 0 ? wrong : `nonsense ${left}`);
      t.equal(answer.status, 401);
      t.match(answer.text, /no API key that is valid/);
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
