import t from 'tap';
import type { Test } from 'tap';
import { startGateway, type Gateway } from '../servers/gateway.js';
import { startUpstream } from '../servers/upstream.js';
import { openClient, type Client } from './client.js';
import { startPair } from './pair.js';

const KEYS = 10;
const ban = { after: 1000 };
const PLANS = {
  free: { limits: { minute: 60, day: 1000 }, ban },
  pro: { limits: { minute: 300, day: 10_000 }, ban },
  anonymous: { limits: { minute: 100_000, day: 100_000 }, ban },
};

/** What everybody sees who asks at once: each distinct status with its limit, once. */
async function seen(clients: readonly Client[], key: string): Promise<string> {
  const answers = await Promise.all(clients.map((client) => client.send(key)));
  return [
    ...new Set(
      answers.map(({ status, headers }) =>
        status === 200 ? `200 of ${headers.get('x-ratelimit-limit')}` : String(status),
      ),
    ),
  ].join(' and ');
}

/** Changes by the admin API of `gateway`; `others` must follow on their very next request. */
async function followsEveryChange(t: Test, gateway: Gateway, others: readonly Client[]): Promise<void> {
  const ended: Record<string, number> = {};
  const check = async (what: string, key: string, wanted: string): Promise<void> => {
    if ((await seen(others, key)) === wanted) ended[what] = (ended[what] ?? 0) + 1;
  };
  for (let n = 0; n < KEYS; n += 1) {
    const { id, key } = await gateway.createKey({ plan: 'free' });
    const tell = async (method: string, path: string, body?: object): Promise<void> => {
      const { status } = await gateway.admin(method, `/admin/v1${path}/${id}`, body);
      if (status >= 300) throw new Error(`${method} ${path}: ${status}`);
    };
    const patch = (body: object): Promise<void> => tell('PATCH', '/keys', body);
    await check('created', key, '200 of 60');
    await patch({ plan: 'pro' });
    await check('plan changed', key, '200 of 300');
    await patch({ status: 'disabled' });
    await check('disabled', key, '401');
    await patch({ status: 'enabled' });
    await check('enabled', key, '200 of 300');
    await tell('PUT', '/bans', { for: '1h' });
    await check('banned', key, '429');
    await tell('DELETE', '/bans');
    await check('lifted', key, '200 of 300');
    await tell('DELETE', '/keys');
    await check('revoked', key, '401');
  }
  const changes = ['created', 'plan changed', 'disabled', 'enabled', 'banned', 'lifted', 'revoked'];
  t.same(
    ended,
    Object.fromEntries(changes.map((change) => [change, KEYS])),
    `each change held on the very next request, ${KEYS} of ${KEYS} keys`,
  );
}

t.test('what gateway A is told holds on the very next request on gateway B', async (t) => {
  const [a, b] = await startPair(t, PLANS);
  await followsEveryChange(t, a, [openClient(t, b.url, 1)]);
});

t.test('what the admin port is told holds on the very next request on every worker', async (t) => {
  const upstream = await startUpstream(t);
  const gateway = await startGateway(t, {
    plans: PLANS,
    config: { upstreams: { pets: { addresses: [upstream.url] } } },
    environment: { PETGATE_WORKERS: '2' },
  });
  // Workers take new connections in turn, so four clients of one connection each reach both.
  const clients = Array.from({ length: 4 }, () => openClient(t, gateway.url, 1));
  await followsEveryChange(t, gateway, clients);
  const workers = new Set(
    gateway.program
      .lines()
      .filter(({ msg }) => msg === 'exchange')
      .map(({ pid }) => pid),
  );
  t.equal(workers.size, 2, 'both workers were asked');
});
