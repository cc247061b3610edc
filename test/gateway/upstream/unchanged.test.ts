import { createServer } from 'node:http';
import t, { type Test } from 'tap';
import { codeOf } from '../../answers/honest.js';
import { request, startFront, startHttp2Front, type Front } from '../../attacks/front.js';
import { openHttp2 } from '../../servers/http2.js';
import { listen } from '../../servers/listen.js';
import { NO_BAN } from '../../servers/plans.js';
import { until } from '../../servers/until.js';
import { startUpstream, type Upstream } from '../../servers/upstream.js';

/** Every path is forwarded to the upstream `default`, an API that was not written for Petgate. */
const FOREIGN = { contract: 'none' };

const PAGE = '<p>'.repeat(70_000);

async function start(t: Test, options = {}): Promise<{ upstream: Upstream; front: Front }> {
  const upstream = await startUpstream(t);
  return { upstream, front: await startFront(t, upstream.url, { foreign: FOREIGN, ...options }) };
}

async function why({ gateway }: Front, id: string): Promise<Readonly<Record<string, unknown>>> {
  const { body } = await gateway.admin('GET', `/admin/v1/exchanges/${id}`);
  return (body as { exchanges: readonly Readonly<Record<string, unknown>>[] }).exchanges[0]!;
}

/** For tests that need no settings. */
const usual = await start(t);

t.beforeEach(() => {
  usual.upstream.seen.length = 0;
  usual.upstream.handle = (_seen, response) => response.end('[]');
});

t.test("an upstream's errors arrive as it sent them, and `why` tells them from the gateway's", async (t) => {
  const { upstream, front } = usual;
  for (const status of [400, 401, 402, 403, 404, 409, 422, 429, 500, 503]) {
    const body = `{"error":{"type":"card_error","status":${status}}}`;
    upstream.handle = (_seen, response) =>
      response
        .writeHead(status, { 'content-type': 'application/json', 'retry-after': '7', 'www-authenticate': 'Basic' })
        .end(body);
    const answer = await front.send(request('POST /charges', front.key, `X-Request-Id: own-${status}`));
    t.same([answer.status, answer.body, answer.headers.get('retry-after')], [status, body, '7']);
    t.ok(answer.headers.get('x-ratelimit-limit'), 'with our figures');
    t.equal(answer.headers.get('www-authenticate'), status === 401 ? 'Basic' : undefined);
    await front.idle();
    t.match(await why(front, `own-${status}`), {
      code: null,
      setting: 'errors of the upstream default, which sent this response',
    });
  }
  upstream.handle = (_seen, response) => response.writeHead(500, { 'content-type': 'text/html' }).end(PAGE);
  t.equal((await front.send(request('POST /charges', front.key))).body, PAGE, 'however long, and of whatever type');
  upstream.handle = (_seen, response) => response.writeHead(407).end();
  t.equal(
    (await front.send(request('POST /charges', front.key))).status,
    502,
    'what is between proxies is not passed on',
  );
  const ours = await front.send(request('POST /charges', 'X-Request-Id: ours'));
  t.same([ours.status, codeOf(ours)], [401, 'missing_api_key']);
  await front.idle();
  t.match(await why(front, 'ours'), { code: 'missing_api_key', setting: /credentials/ });
});

t.test('it sees how and by which name the client called; its own address stays behind', async (t) => {
  const { upstream, front } = await start(t, { pets: { forwarded: true } });
  const key = front.key;
  upstream.handle = (_seen, response) =>
    response
      .writeHead(302, {
        location: `${upstream.url}/blobs/1?a=b`,
        'content-location': `${upstream.url}/blobs`,
        'set-cookie': ['a=1; Domain=127.0.0.1; Path=/', 'b=2; Domain=example.com'],
      })
      .end();
  const answer = await front.send(request('GET /blobs', key, 'Via: 1.0 fred', 'X-Forwarded-Proto: https'));
  t.equal(answer.headers.get('location'), 'http://pets.example/blobs/1?a=b');
  t.equal(answer.headers.get('content-location'), 'http://pets.example/blobs');
  t.match(String(answer.headers.get('set-cookie')), /^a=1; Path=\/,? ?b=2; Domain=example.com$/);
  t.match(upstream.seen[0]!.headers, {
    'x-forwarded-proto': 'http',
    'x-forwarded-host': 'pets.example',
    'x-forwarded-for': '127.0.0.1',
    forwarded: 'for=127.0.0.1;host="pets.example";proto=http',
    via: '1.0 fred, 1.1 petgate',
  });
});

t.test('over TLS and HTTP/2 it is https', async (t) => {
  const { upstream, front } = await startHttp2Front(t, { foreign: FOREIGN });
  upstream.handle = (_seen, response) => response.writeHead(302, { location: `${upstream.url}/x` }).end();
  const { headers } = await openHttp2(t, front.target).send({ path: '/blobs', key: front.key });
  t.match(headers.get('location'), /^https:\/\/[^/]+\/x$/);
  t.match(upstream.seen[0]!.headers, { 'x-forwarded-proto': 'https', via: '2 petgate' });
  t.equal(upstream.seen[0]!.headers.forwarded, undefined);
});

const PREFLIGHT = ['Origin: https://app.example', 'Access-Control-Request-Method: PUT'];

t.test("preflights are the upstream's to answer: free, bounded by the plan of their address", async (t) => {
  const limits = { minute: 5, day: 1_000 };
  const plans = { free: { limits, ban: NO_BAN }, anonymous: { limits, ban: NO_BAN } };
  const { upstream, front } = await start(t, { plans });
  upstream.handle = (_seen, response) =>
    response
      .writeHead(204, {
        'access-control-allow-origin': '*',
        'access-control-allow-methods': 'PUT',
        vary: 'Origin, origin',
      })
      .end();
  const ask = (...fields: string[]): ReturnType<Front['send']> => front.send(request('OPTIONS /a', ...fields));
  for (let n = 0; n < 5; n += 1) {
    const answer = await ask(...PREFLIGHT);
    t.same([answer.status, answer.headers.get('access-control-allow-methods')], [204, 'PUT']);
    t.equal(answer.headers.get('x-ratelimit-remaining'), String(4 - n), 'of the address');
  }
  t.match(upstream.seen[0], { method: 'OPTIONS', url: '/a', headers: { origin: 'https://app.example' } });
  const refused = await ask(...PREFLIGHT, front.key);
  t.same([refused.status, codeOf(refused), upstream.seen.length], [429, 'rate_limited', 5], 'a key pays for none');
  t.equal((await front.send(request('GET /a', front.key))).status, 204, 'and its holder is not hindered');
  t.equal((await ask('Origin: https://app.example')).status, 429, 'no preflight: a request like any other');
  t.equal(upstream.seen.length, 6);
});

t.test('with a cors block preflights stay with the gateway, and so do those of pets', async (t) => {
  const { upstream, front } = await start(t, { config: { cors: { origins: ['https://app.example'] } } });
  const answer = await front.send(request('OPTIONS /a', ...PREFLIGHT));
  t.same([answer.status, upstream.seen.length], [204, 0]);
  const pets = await startUpstream(t);
  const ours = await startFront(t, pets.url);
  t.equal((await ours.send(request('OPTIONS /v1/pets', ...PREFLIGHT))).status, 204);
  t.equal(pets.seen.length, 0);
});

t.test('a body may have 10 MiB; the 413 names the limit, and `why` the setting', async (t) => {
  const { upstream, front } = usual;
  const post = (length: number, ...fields: string[]): string =>
    request('POST /a', front.key, `Content-Length: ${length}`, ...fields);
  const body = Buffer.alloc(10 * 2 ** 20, 'x');
  t.equal((await front.send(Buffer.concat([Buffer.from(post(body.length)), body]))).status, 200);
  t.equal(upstream.seen[0]!.body.length, body.length);
  const refused = await front.send(post(body.length + 1, 'X-Request-Id: large'));
  t.same([refused.status, codeOf(refused)], [413, 'body_too_large']);
  t.match(refused.body, /larger than the 10MiB/);
  await front.idle();
  t.match(await why(front, 'large'), { setting: /^limits\.body_size/ });
});

t.test('keep_alive says how long an idle connection to it stays open', async (t) => {
  let connections = 0;
  const server = createServer((_request, response) => response.end('[]')).on('connection', () => (connections += 1));
  const { port, sockets } = await listen(t, server);
  const front = await startFront(t, `http://127.0.0.1:${port}`, { foreign: FOREIGN, pets: { keep_alive: '1s' } });
  const post = async (): Promise<number> =>
    (await front.send(`${request('POST /a', front.key, 'Content-Length: 1')}x`)).status;
  t.equal(await post(), 200);
  // Node's server would keep it for five seconds.
  await until('the gateway closed it', () => connections > 0 && sockets.size === 0);
  t.equal(await post(), 200);
  t.equal(connections, 2);
});

t.test('gRPC is refused with a word about it, and gRPC-Web passes', async (t) => {
  const { upstream, front } = usual;
  const post = (type: string): ReturnType<Front['send']> =>
    front.send(`${request('POST /a.B/C', front.key, `Content-Type: ${type}`, 'Content-Length: 1')}x`);
  for (const type of ['application/grpc', 'application/grpc+proto', 'Application/GRPC; x=1']) {
    const refused = await post(type);
    t.same([refused.status, codeOf(refused)], [415, 'grpc_not_supported']);
  }
  t.equal((await post('application/grpc-web+proto')).status, 200);
  t.equal(upstream.seen.length, 1);
});

t.test('nested: refusals have the form that SDKs read', async (t) => {
  const { front } = await start(t, { config: { errors: 'nested' } });
  const refused = await front.send(request('GET /a', 'Authorization: Bearer nobody'));
  t.equal(refused.status, 401);
  t.match(JSON.parse(refused.body), { error: { code: 'invalid_api_key', type: 'authentication_error', param: null } });
});
