import t from 'tap';
import { INTERNAL_TOKEN } from '../servers/gateway.js';
import { startUpstream, type Seen } from '../servers/upstream.js';
import { AMPLE_PLANS, request, startFront } from './front.js';

const valuesOf = ({ rawHeaders }: Seen, name: string): readonly string[] =>
  rawHeaders.filter((_, index) => index % 2 === 1 && rawHeaders[index - 1]!.toLowerCase() === name);

const upstream = await startUpstream(t);
const front = await startFront(t, upstream.url);

t.beforeEach(() => {
  upstream.seen.length = 0;
  upstream.handle = (_seen, response) => response.end('[]');
});

/**
 * The attack: the client says what only the gateway may say (who asks, on which plan, from where),
 * in spellings that a filter misses and the upstream reads all the same.
 */
t.test("what the upstream hears of the caller is the gateway's word alone", async (t) => {
  const forged = [
    'X-Petgate-Key-Id',
    'X_Petgate_Key_Id',
    'X-Petgate_Plan',
    'X-Petgate-Admin',
    'X_Forwarded_For',
    'x-forwarded-for',
    'Forwarded',
    'TraceParent',
    'X-Request-Id',
    'Authorization_',
    'Content_Length',
    'Host_',
  ];
  const answer = await front.send(
    request(
      'GET /v1/pets',
      front.key,
      ...forged.map((name) => `${name}: forged!`),
      'X-Fine: kept',
      'Accept: application/json',
    ),
  );
  t.equal(answer.status, 200);
  const [seen] = upstream.seen;
  t.same(
    seen!.rawHeaders.filter((_, index) => index % 2 === 0 && seen!.rawHeaders[index + 1] === 'forged!'),
    [],
    'nothing of it arrived',
  );
  t.same(valuesOf(seen!, 'authorization'), [`Bearer ${INTERNAL_TOKEN}`]);
  t.same(valuesOf(seen!, 'x-petgate-key-id'), [front.keyId]);
  t.same(valuesOf(seen!, 'x-petgate-plan'), ['free']);
  t.same(valuesOf(seen!, 'x-forwarded-for'), ['127.0.0.1']);
  t.equal(valuesOf(seen!, 'host').length, 1);
  t.same(valuesOf(seen!, 'x-fine'), ['kept'], 'an honest field travels');
  t.same(valuesOf(seen!, 'accept'), ['application/json']);
});

/** The attack: `Connection: x` makes a proxy drop x on the way, be it the one field that identifies. */
t.test('what Connection names is gone before our own fields are added', async (t) => {
  const names =
    'X-Petgate-Key-Id, X-Petgate-Plan, Authorization, X-Forwarded-For, Host, traceparent, X-Request-Id, X-Hop, ' +
    'Content-Length';
  const connection = [`Connection: close, ${names}`, 'Connection: X-Other'];
  const fields = [...connection, 'X-Hop: 1', 'X-Other: 1', 'X-Stays: 1', 'Content-Length: 2'];
  t.equal((await front.send(`${request('POST /v1/pets', front.key, ...fields)}{}`)).status, 200);
  const [seen] = upstream.seen;
  t.same(valuesOf(seen!, 'authorization'), [`Bearer ${INTERNAL_TOKEN}`]);
  t.same(valuesOf(seen!, 'x-petgate-key-id'), [front.keyId]);
  for (const name of ['x-petgate-plan', 'x-forwarded-for', 'host', 'traceparent', 'x-request-id', 'content-length'])
    t.equal(valuesOf(seen!, name).length, 1, name);
  t.equal(seen!.body, '{}');
  t.same([...valuesOf(seen!, 'x-hop'), ...valuesOf(seen!, 'x-other')], [], 'hop-by-hop fields ended here');
  t.same(valuesOf(seen!, 'x-stays'), ['1']);
});

/** The attack: two credentials, so that the gateway judges one and a reader behind it the other. */
t.test("the client's credential never travels, and two are none", async (t) => {
  const secret = front.key.slice('Authorization: Bearer '.length);
  t.equal((await front.send(request('GET /v1/pets', front.key, 'Authorization: Bearer x'))).status, 401);
  t.equal((await front.send(request('GET /v1/pets', 'authorization: Basic eDp5', front.key))).status, 401);
  t.equal((await front.send(request('GET /v1/pets', front.key, 'Proxy-Authorization: Basic eDp5'))).status, 200);
  t.equal(upstream.seen.length, 1);
  t.notOk(JSON.stringify(upstream.seen).includes(secret), 'behind, nobody saw the key');
  t.notOk(front.gateway.program.output().includes(secret), 'nor stands it in the log');
  await front.send(`GET /v1/pets HTTP/1.1\r\nHost: x\r\nHost: y\r\n${front.key}\r\nbroken line\r\n\r\n`);
  t.notOk(front.gateway.program.output().includes(secret), 'also not after a request that could not be read');
});

/** The attack: a forged X-Forwarded-For, to spend another's bucket or to have a new one for each request. */
t.test('X-Forwarded-For is believed from trusted proxies only', async (t) => {
  const plans = { ...AMPLE_PLANS, anonymous: { ...AMPLE_PLANS.anonymous, limits: { minute: 3, day: 1000 } } };
  const strangers = await startFront(t, upstream.url, { plans });
  const statuses: number[] = [];
  for (let n = 0; n < 5; n += 1)
    statuses.push((await strangers.send(request('GET /v1/pets', `X-Forwarded-For: 192.0.2.${n}`))).status);
  t.same(statuses, [401, 401, 401, 429, 429], 'one bucket, whatever it says');
  t.equal(await strangers.good(), 200, 'a valid key from the same address is not affected');

  const trusting = await startFront(t, upstream.url, {
    plans,
    config: { trusted_proxies: ['127.0.0.1', '10.0.0.0/8'] },
  });
  for (const [said, heard] of [
    ['192.0.2.66, 192.0.2.3, 10.1.2.3', '192.0.2.3'],
    ['[2001:db8::2]:4711', '2001:db8::2'],
    ['192.0.2.5, rubbish', '127.0.0.1'],
  ] as const) {
    upstream.seen.length = 0;
    await trusting.send(request('GET /v1/pets', trusting.key, `X-Forwarded-For: ${said}`));
    t.same(valuesOf(upstream.seen[0]!, 'x-forwarded-for'), [heard], `${said} is heard as ${heard}`);
  }
  upstream.seen.length = 0;
  await trusting.send(
    request('GET /v1/pets', trusting.key, 'X-Forwarded-For: 192.0.2.66', 'X-Forwarded-For: 192.0.2.7'),
  );
  t.same(valuesOf(upstream.seen[0]!, 'x-forwarded-for'), ['192.0.2.7'], 'of two fields the later is the nearer hop');
  const six: number[] = [];
  for (let n = 0; n < 5; n += 1)
    six.push((await trusting.send(request('GET /v1/pets', `X-Forwarded-For: 2001:db8:0:1::${n + 1}`))).status);
  t.same(six, [401, 401, 401, 429, 429], 'an IPv6 caller has one bucket for its /64');
  t.equal(
    (await trusting.send(request('GET /v1/pets', 'X-Forwarded-For: 2001:db8:0:2::1'))).status,
    401,
    'and its neighbour another',
  );
});

/** The attack: an id that breaks the log, or the answer it is repeated in. */
t.test('X-Request-Id is repeated when it is harmless, and replaced when not', async (t) => {
  for (const id of ['a', 'f'.repeat(128), 'A-z_0.9~+/=']) {
    const answer = await front.send(request('GET /v1/pets', front.key, `X-Request-Id: ${id}`));
    t.equal(answer.headers.get('x-request-id'), id);
    t.same(valuesOf(upstream.seen.at(-1)!, 'x-request-id'), [id]);
  }
  for (const id of ['', 'f'.repeat(129), 'a b', '"}', '<script>', 'caf\u00e9', 'a,b', '${jndi}', 'a\tb']) {
    const answer = await front.send(Buffer.from(request('GET /v1/pets', front.key, `X-Request-Id: ${id}`), 'latin1'));
    t.match(answer.headers.get('x-request-id'), /^[0-9a-f]{32}$/, JSON.stringify(id));
    t.same(
      valuesOf(upstream.seen.at(-1)!, 'x-request-id'),
      [answer.headers.get('x-request-id')],
      'the same for both sides',
    );
  }
});

/** The attack: a trace context that is none, or somebody else's state under a trace it does not belong to. */
t.test('a trace is continued when it is one, with its state; else a new one begins without', async (t) => {
  const trace = '4bf92f3577b34da6a3ce929d0e0e4736';
  const span = '00f067aa0ba902b7';
  const tell = async (...fields: readonly string[]): Promise<{ traceparent: string; state: readonly string[] }> => {
    await front.send(request('GET /v1/pets', front.key, 'tracestate: a=1', ...fields));
    const seen = upstream.seen.at(-1)!;
    t.equal(valuesOf(seen, 'traceparent').length, 1);
    return { traceparent: valuesOf(seen, 'traceparent')[0]!, state: valuesOf(seen, 'tracestate') };
  };
  const good = await tell(`traceparent: 00-${trace}-${span}-01`);
  t.match(good.traceparent, new RegExp(`^00-${trace}-(?!${span})[0-9a-f]{16}-01$`), 'same trace, own span');
  t.same(good.state, ['a=1'], 'with its state');
  const twice = `traceparent: 00-${trace}-${span}-01`;
  for (const fields of [[`traceparent: 00-${trace.toUpperCase()}-${span}-01`], [twice, twice], []]) {
    const { traceparent, state } = await tell(...fields);
    t.match(traceparent, /^00-[0-9a-f]{32}-[0-9a-f]{16}-00$/, `${fields.join()}: a new trace`);
    t.notMatch(traceparent, new RegExp(trace));
    t.same(state, [], 'and no state of another');
  }
});

t.test('an upstream sets no cookie of the pages, and gets no key and no address that its client made up', async (t) => {
  upstream.handle = (_seen, response) =>
    response
      .writeHead(200, {
        'content-type': 'application/json',
        'set-cookie': ['petgate-console=x; Path=/console', '=petgate-account=x', '__Secure-petgate-console=', 'own=1'],
      })
      .end('[]');
  const token = front.key.slice('Authorization: Bearer '.length);
  const claims = ['Proxy', 'True-Client-IP', 'CF-Connecting-IP', 'X-Client-IP', 'X-Cluster-Client-IP', 'X-Host'];
  const fields = [front.key, `X-Request-Id: ${token}`, ...claims.map((name) => `${name}: 203.0.113.9`)];
  const answer = await front.send(request('GET /v1/pets', ...fields));
  t.equal(answer.status, 200);
  t.equal(answer.headers.get('set-cookie'), 'own=1');
  t.match(answer.headers.get('x-request-id'), /^[0-9a-f]{32}$/);
  t.notMatch(JSON.stringify(upstream.seen), token);
  t.notMatch(JSON.stringify(upstream.seen), /203\.0\.113\.9/);
  await front.idle();
  t.notMatch(front.gateway.program.output(), token, 'and no log has it');
});
