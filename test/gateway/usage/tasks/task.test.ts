import { request } from 'node:http';
import t from 'tap';
import type { Test } from 'tap';
import { ADMIN_TOKEN, startGateway, type Gateway } from '../../../servers/gateway.js';
import { childrenOf } from '../../../servers/program.js';
import { exchangeRaw } from '../../../servers/raw.js';
import { redisFor } from '../../../servers/redis.js';
import { until } from '../../../servers/until.js';
import { startUpstream } from '../../../servers/upstream.js';

t.setTimeout(600_000);

async function serving(t: Test, environment: Readonly<Record<string, string>>): Promise<Gateway> {
  const upstream = await startUpstream(t);
  const gateway = await startGateway(t, {
    environment: { ...environment, PETS_URL: upstream.url },
    config: { store: { deadline: '10s' } },
  });
  await until('the store is there', async () => (await gateway.admin('GET', '/readyz')).status === 200);
  return gateway;
}

async function send(gateway: Gateway, key: unknown): Promise<void> {
  await exchangeRaw(
    gateway.port,
    `GET /v1/pets HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${String(key)}\r\nConnection: close\r\n\r\n`,
    1,
  );
}

async function report(t: Test, gateway: Gateway): Promise<void> {
  const { id, key } = await gateway.createKey({ plan: 'pro' });
  for (let asked = 1; asked <= 3; asked += 1) {
    await send(gateway, key);
    const { status, body } = await gateway.admin('GET', '/admin/v1/usage?by=key');
    t.equal(status, 200, JSON.stringify(body));
    t.match(
      body,
      { rows: [{ key: id, name: 'test', requests: asked }], totals: { requests: asked } },
      'what was admitted a moment ago is in it',
    );
  }
  await reportOfCustomers(t, gateway);
  await rehearsal(t, gateway);
  await until('no process stays behind', () => childrenOf(gateway.program.pid).length === 0);
}

async function rehearsal(t: Test, gateway: Gateway): Promise<void> {
  const plan = { limits: { minute: 60, day: 1 }, ban: { after: 30 } };
  const plans = { free: plan, pro: plan, business: plan, enterprise: plan, anonymous: plan };
  const month = new Date().toISOString().slice(0, 7);
  const { status, body } = await gateway.admin('POST', `/admin/v1/plans/rehearse?month=${month}`, plans);
  t.equal(status, 200, JSON.stringify(body));
  // Three requests of one key, and two of each customer, of which a day holds one.
  t.match(body, { plans: [{ plan: 'pro', before: { requests: 9, units: 9 }, after: { units: 4 }, above: 5 }] });
}

async function reportOfCustomers(t: Test, gateway: Gateway): Promise<void> {
  const made = async (path: string, body: object) =>
    (await gateway.admin('POST', path, body)).body as Readonly<Record<'id' | 'key', string>>;
  for (const reference of ['C-1', 'C-2', 'C-3']) {
    const { id: customer } = await made('/admin/v1/customers', { name: 'shop', plan: 'pro', reference });
    for (const name of ['web', 'app']) await send(gateway, (await made('/admin/v1/keys', { customer, name })).key);
    const { body } = await gateway.admin('GET', `/admin/v1/usage?by=customer&customer=${reference}`);
    t.match(body, { rows: [{ customer, reference, name: 'shop', requests: 2 }], totals: { requests: 2 } });
    t.equal((body as { rows: readonly unknown[] }).rows.length, 1);
  }
}

t.test('embedded: a report over all keys is up to date, and starts no process', async (t) => {
  await report(t, await serving(t, {}));
});

t.test('redis: the same from a process of its own; 503 while Redis is unavailable', async (t) => {
  const redis = await redisFor(t);
  const gateway = await serving(t, { REDIS_URL: redis.url });
  await report(t, gateway);
  await redis.kill();
  const { status, body } = await gateway.admin('GET', '/admin/v1/usage');
  t.equal(status, 503);
  t.match(body, { code: 'store_unavailable', message: /^The store can't do this now \(.+\)\. / }, 'and why');
});

t.test('who stops reading ends the process; one report too many is refused and told to wait', async (t) => {
  const redis = await redisFor(t);
  const gateway = await serving(t, { REDIS_URL: redis.url });
  const ask = (): Promise<number> =>
    new Promise((resolve, reject) => {
      request(
        `${gateway.adminUrl}/admin/v1/usage`,
        { headers: { authorization: `Bearer ${ADMIN_TOKEN}` }, agent: false },
        (response) => {
          resolve(response.statusCode ?? 0);
          response.resume();
        },
      )
        .on('error', reject)
        .end();
    });
  const statuses = await Promise.all(Array.from({ length: 12 }, ask));
  t.equal(statuses.filter((status) => status === 200).length, 4);
  t.equal(statuses.filter((status) => status === 503).length, 8);
  await until('room again', async () => (await ask()) === 200);

  const sent = request(`${gateway.adminUrl}/admin/v1/usage`, {
    headers: { authorization: `Bearer ${ADMIN_TOKEN}` },
    agent: false,
  }).on('error', () => undefined);
  sent.end();
  await until('the report is under way', () => childrenOf(gateway.program.pid).length > 0);
  sent.destroy();
  await until('its process is gone', () => childrenOf(gateway.program.pid).length === 0);
  t.equal((await gateway.admin('GET', '/admin/v1/usage')).status, 200, 'and the gateway serves on');
});
