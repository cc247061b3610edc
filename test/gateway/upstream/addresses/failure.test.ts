import t from 'tap';
import { scrape } from '../../../servers/exposition.js';
import { startGateway, type Gateway } from '../../../servers/gateway.js';
import { startUpstream } from '../../../servers/upstream.js';

/** Failed attempts by kind, those with none left out. */
async function failures(gateway: Gateway): Promise<Record<string, number>> {
  const { series } = await scrape(gateway.adminUrl);
  const counted = series.filter(({ name, value }) => name === 'petgate_upstream_failures_total' && value > 0);
  return Object.fromEntries(counted.map(({ labels, value }) => [labels['kind'] ?? '', value]));
}

t.test('each way an upstream can fail is counted under its kind', async (t) => {
  const upstream = await startUpstream(t);
  const gateway = await startGateway(t, {
    environment: { PETS_URL: upstream.url },
    config: { upstreams: { pets: { deadline: '1s', connections: 1, breaker: 'off' } } },
  });
  const { key } = await gateway.createKey({ plan: 'pro' });
  const add = (): Promise<number> =>
    fetch(`${gateway.url}/v1/pets`, {
      method: 'POST',
      headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
      body: '{"name":"Rex","categoryId":1}',
    }).then(({ status }) => status);

  t.equal(await add(), 200);
  t.strictSame(await failures(gateway), {});
  upstream.handle = (_seen, response) => response.writeHead(401).end();
  t.equal(await add(), 502);
  t.strictSame(await failures(gateway), { bad_answer: 1 });
  upstream.handle = (_seen, response) => response.destroy();
  t.equal(await add(), 502);
  t.strictSame(await failures(gateway), { bad_answer: 1, lost: 1 });
  upstream.handle = () => undefined;
  t.equal(await add(), 504);
  t.strictSame(await failures(gateway), { bad_answer: 1, lost: 1, timeout: 1 });
  // One is sent, four may wait for its connection.
  const statuses = await Promise.all(Array.from({ length: 6 }, add));
  t.strictSame(statuses.sort(), [503, 504, 504, 504, 504, 504]);
  t.strictSame(await failures(gateway), { bad_answer: 1, lost: 1, timeout: 6, full: 1 });
  upstream.handle = (_seen, response) => response.writeHead(500).end();
  t.equal(await add(), 500, 'a 5xx of its own is an answer; petgate_requests_total tells of it');
  t.strictSame(await failures(gateway), { bad_answer: 1, lost: 1, timeout: 6, full: 1 });
});

t.test('pets with another internal token is named in the log and in /readyz, until it accepts ours', async (t) => {
  const upstream = await startUpstream(t);
  const gateway = await startGateway(t, { environment: { PETS_URL: upstream.url } });
  const { key } = await gateway.createKey({ plan: 'pro' });
  const list = async (): Promise<number> =>
    (await fetch(`${gateway.url}/v1/pets`, { headers: { authorization: `Bearer ${key}` } })).status;
  const part = async (): Promise<unknown> => {
    const { parts } = (await (await fetch(`${gateway.adminUrl}/readyz`)).json()) as { parts: Record<string, unknown> };
    return parts['upstream:pets'];
  };
  upstream.handle = (_seen, response) => response.writeHead(401).end();
  t.equal(await list(), 502);
  t.match(await part(), { ok: false, detail: 'pets refuses the internal token' });
  t.match(
    await gateway.program.logged(
      'pets refuses the internal token: set the same PETGATE_INTERNAL_TOKEN for both, or give both the same file ' +
        'internal-token in their data folders',
    ),
    { level: 'error', upstream: 'pets' },
  );
  upstream.handle = (_seen, response) => response.writeHead(200, { 'content-type': 'application/json' }).end('[]');
  t.equal(await list(), 200);
  t.match(await part(), { ok: true });
});
