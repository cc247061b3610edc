import { renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { withoutPrefix } from '../../../src/gateway/upstream/own-addresses.js';
import { request, startFront } from '../../attacks/front.js';
import { INTERNAL_TOKEN, startGateway } from '../../servers/gateway.js';
import { temporaryFolder } from '../../servers/program.js';
import { startUpstream } from '../../servers/upstream.js';
import { until } from '../../servers/until.js';

t.test('only whole segments are stripped', (t) => {
  for (const [path, prefix, left] of [
    ['/v1/pets', '', '/v1/pets'],
    ['/v1/pets', '/v1', '/pets'],
    ['/v1', '/v1', '/'],
    ['/v1/', '/v1', '/'],
    ['/v10/pets', '/v1', '/v10/pets'],
    ['/pets', '/v1', '/pets'],
    ['/a/b/c', '/a/b', '/c'],
  ] as const)
    t.equal(withoutPrefix(path, prefix), left, `${path} without ${prefix}`);
  t.end();
});

t.test('the path of the address stands in place of what is stripped', async (t) => {
  const upstream = await startUpstream(t);
  const front = await startFront(t, `${upstream.url}/api/`, { pets: { strip_prefix: '/v1' } });
  t.equal((await front.send(request('GET /v1/pets?limit=2', front.key, 'X-Forwarded-Prefix: /evil'))).status, 200);
  const [seen] = upstream.seen;
  t.equal(seen?.url, '/api/pets?limit=2');
  t.equal(seen?.headers['x-forwarded-prefix'], '/v1');
  t.equal(seen?.headers.host, new URL(upstream.url).host);
});

t.test(
  'a Unix socket may have a path behind it; one that disappears is unreachable until it is there again',
  async (t) => {
    const folder = temporaryFolder(t);
    const socketPath = join(folder, 'app.sock');
    const upstream = await startUpstream(t, { socketPath });
    const front = await startFront(t, `unix:${socketPath}:/api`, { pets: { breaker: 'off' } });
    t.equal(await front.good(), 200);
    t.equal(upstream.seen[0]?.url, '/api/v1/pets');
    t.equal(upstream.seen[0]?.headers.host, 'localhost');
    renameSync(socketPath, `${socketPath}.away`);
    upstream.handle = (_seen, response) => response.setHeader('connection', 'close').end('[]');
    t.equal(await front.good(), 200, 'connections that are open serve');
    t.equal(await front.good(), 503);
    renameSync(`${socketPath}.away`, socketPath);
    await until('it is served again', async () => (await front.good()) === 200);
  },
);

t.test('IPv6 addresses, and names', async (t) => {
  const upstream = await startUpstream(t, { host: '::1' });
  t.equal(await (await startFront(t, upstream.url)).good(), 200);
  const named = await startUpstream(t);
  const url = `http://localhost:${new URL(named.url).port}`;
  t.equal(await (await startFront(t, url)).good(), 200);
  t.equal(named.seen[0]?.headers.host, new URL(url).host);
});

t.test('Host is the address’s, or the client’s where the settings say so', async (t) => {
  const upstream = await startUpstream(t);
  const front = await startFront(t, upstream.url, { pets: { host: 'client' } });
  t.equal(await front.good(), 200);
  t.equal(upstream.seen[0]?.headers.host, 'pets.example');
});

t.test('no upstream but pets and store gets the internal token, unless the settings say so', async (t) => {
  const upstream = await startUpstream(t);
  const authorizationOf = async (pets: Readonly<Record<string, unknown>>, environment = {}): Promise<unknown> => {
    const front = await startFront(t, upstream.url, { pets, environment });
    t.equal(await front.good(), 200);
    await front.gateway.program.stop('SIGKILL');
    return upstream.seen.at(-1)?.headers.authorization;
  };
  t.equal(await authorizationOf({}), `Bearer ${INTERNAL_TOKEN}`);
  t.equal(await authorizationOf({ authorization: 'none' }), undefined);
  t.equal(await authorizationOf({ authorization: { variable: 'BILLING' } }, { BILLING: ' sesame\n' }), 'Bearer sesame');
  t.equal(
    await authorizationOf({ authorization: { scheme: 'basic', variable: 'BILLING' } }, { BILLING: 'me:sésame' }),
    `Basic ${Buffer.from('me:sésame').toString('base64')}`,
  );
});

t.test('UPSTREAM_URL is the upstream of operations that name none, and gets no token of ours', async (t) => {
  const upstream = await startUpstream(t);
  const contract = join(temporaryFolder(t), 'openapi.json');
  writeFileSync(
    contract,
    JSON.stringify({ openapi: '3.0.3', info: { title: 'Foreign', version: '1' }, paths: { '/things': { get: {} } } }),
  );
  const gateway = await startGateway(t, { config: { contract }, environment: { UPSTREAM_URL: `${upstream.url}/api` } });
  const { key } = await gateway.createKey({ plan: 'free' });
  const answer = await fetch(`${gateway.url}/things`, { headers: { authorization: `Bearer ${key}` } });
  t.equal(answer.status, 200);
  t.equal(upstream.seen[0]?.url, '/api/things');
  t.equal(upstream.seen[0]?.headers.authorization, undefined);
});

t.test('a secret of a file is taken over when it changes, replaces the client’s, and is shown nowhere', async (t) => {
  const folder = temporaryFolder(t);
  const file = join(folder, 'key');
  writeFileSync(file, 'short-1\n');
  const upstream = await startUpstream(t);
  upstream.handle = ({ headers }, response) => response.writeHead(500).end(`no good: ${String(headers['x-api-key'])}`);
  const front = await startFront(t, upstream.url, { pets: { authorization: { header: 'X-API-Key', file } } });
  const ask = async (): Promise<unknown> => {
    await front.send(request('GET /v1/pets', front.key, 'x-api-key: mine', 'X_Api_Key: mine too', 'page_token: p'));
    const { x_api_key: spelledOtherwise, page_token: other } = upstream.seen.at(-1)!.headers;
    t.same([spelledOtherwise, other], [undefined, 'p'], 'also one that a server reads as the same; others pass');
    return upstream.seen.at(-1)?.headers['x-api-key'];
  };
  t.equal(await ask(), 'short-1');
  writeFileSync(file, 'short-2\n');
  await until('the new one is sent', async () => (await ask()) === 'short-2');
  t.match(
    await front.gateway.program.logged(
      'the upstream sent an error that is not an Error of the contract: the gateway replaced it',
    ),
    { body: 'no good: ***' },
  );
  writeFileSync(file, '\n');
  await front.gateway.program.logged('the changed settings were refused; the previous ones stay in force');
  t.equal(await ask(), 'short-2');
  t.notMatch(front.gateway.program.output(), /short-[12]/);
});
