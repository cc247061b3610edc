import { writeFileSync } from 'node:fs';
import type { ServerResponse } from 'node:http';
import { join } from 'node:path';
import t, { type Test } from 'tap';
import { codeOf } from '../../answers/honest.js';
import { request, startFront, type Front } from '../../attacks/front.js';
import { scrape } from '../../servers/exposition.js';
import { temporaryFolder } from '../../servers/program.js';
import { until } from '../../servers/until.js';
import { startUpstream, type Upstream } from '../../servers/upstream.js';
import { follow } from './follow.js';

/** Every path is forwarded to the upstream `default`, which is not ours. */
const FOREIGN = { contract: 'none' };
const MiB = 2 ** 20;

function foreignPolicy(t: Test): Readonly<Record<string, unknown>> {
  const contract = join(temporaryFolder(t), 'api.json');
  const paths = {
    '/held': { get: { 'x-petgate': { stream: false } } },
    '/streamed': { get: { 'x-petgate': { stream: true, deadline: '1s' } } },
  };
  writeFileSync(contract, JSON.stringify({ openapi: '3.1.0', info: { title: 'A', version: '1' }, paths }));
  return { contract };
}

/** What `petgate why` knows of the request that was followed. */
async function why(front: Front): Promise<Readonly<Record<string, unknown>>> {
  await front.idle();
  const { body } = await front.gateway.admin('GET', '/admin/v1/exchanges/followed');
  return (body as { exchanges: readonly Readonly<Record<string, unknown>>[] }).exchanges[0]!;
}

async function failures({ gateway }: Front): Promise<number> {
  const metrics = await scrape(gateway.adminUrl);
  return metrics.value('petgate_upstream_failures_total', { upstream: 'default', kind: 'timeout' });
}

async function start(
  t: Test,
  pets: Readonly<Record<string, unknown>> = {},
  foreign: Readonly<Record<string, unknown>> = FOREIGN,
): Promise<{ upstream: Upstream; front: Front }> {
  const upstream = await startUpstream(t);
  return { upstream, front: await startFront(t, upstream.url, { foreign, pets }) };
}

/** For tests that need no settings. */
const usual = await start(t);

t.test('what has arrived goes on after a moment, whatever its type, and each later piece as it comes', async (t) => {
  const { upstream, front } = usual;
  for (const type of ['text/plain', 'application/json', 'multipart/mixed; boundary=x', 'video/mp4', '']) {
    let open: ServerResponse | undefined;
    upstream.handle = (_seen, response) => {
      open = response.writeHead(200, type === '' ? {} : { 'content-type': type });
      response.write('first ');
    };
    const followed = await follow(t, front);
    await until(`${type}: the first piece is there`, () => followed.text === 'first ');
    open!.write('second');
    await until('and the second', () => followed.text === 'first second');
    open!.end();
    await until('and the end', () => followed.end === 'ended');
  }
});

t.test('so does a head alone', async (t) => {
  const { upstream, front } = usual;
  let open: ServerResponse | undefined;
  upstream.handle = (_seen, response) => {
    open = response.writeHead(200, { 'content-type': 'application/vnd.docker.raw-stream' });
    response.flushHeaders();
  };
  const followed = await follow(t, front);
  t.equal(followed.answer.statusCode, 200);
  open!.end('x');
  await until('the end', () => followed.text === 'x' && followed.end === 'ended');
});

t.test('a small one that comes in pieces goes out whole, in one write with its length', async (t) => {
  const { upstream, front } = usual;
  upstream.handle = (_seen, response) => {
    response.writeHead(200, { 'content-type': 'application/json' });
    response.write('[1,');
    setImmediate(() => response.end('2]'));
  };
  const answer = await front.send(request('GET /a', front.key));
  t.same([answer.body, answer.headers.get('content-length')], ['[1,2]', '5']);
});

t.test('x-petgate stream: false holds a response until it is complete, true holds nothing', async (t) => {
  const { upstream, front } = await start(t, {}, foreignPolicy(t));
  upstream.handle = (_seen, response) => {
    response.writeHead(200, { 'content-type': 'text/event-stream' }).flushHeaders();
    setTimeout(() => response.end('data: 1\n\n'), 250);
  };
  const held = await front.send(request('GET /held', front.key));
  t.same([held.body, held.headers.get('content-length')], ['data: 1\n\n', '9']);
  upstream.handle = (_seen, response) => response.writeHead(200, { 'content-type': 'text/plain' }).end('x');
  const streamed = await follow(t, front, '/streamed');
  t.equal(streamed.answer.headers['content-length'], undefined);
  await until('it is whole', () => streamed.end === 'ended' && streamed.text === 'x');
  // Longer than its deadline silent, but shorter than idle, which is that of a stream.
  let open: ServerResponse | undefined;
  upstream.handle = (_seen, response) => void (open = response.writeHead(200)).write('a');
  const silent = await follow(t, front, '/streamed');
  await until('it is there', () => silent.text === 'a');
  const sinceMs = performance.now();
  await until('the deadline is over', () => performance.now() - sinceMs > 1_500);
  open!.end('b');
  await until('it ended in order', () => silent.end === 'ended' && silent.text === 'ab');
});

t.test('a response may take longer than the deadline in all; only its silence counts', async (t) => {
  const { upstream, front } = await start(t, { deadline: '1500ms' });
  upstream.handle = (_seen, response) => {
    response.writeHead(200, { 'content-type': 'application/json' });
    let n = 0;
    const talk = setInterval(() => {
      response.write('x');
      n += 1;
      if (n < 10) return;
      clearInterval(talk);
      response.end();
    }, 200);
  };
  const followed = await follow(t, front);
  await until('it ended in order', () => followed.end !== null);
  t.same([followed.end, followed.text.length], ['ended', 10]);
  t.equal(await failures(front), 0);
});

t.test('the time in which a client reads nothing is not the upstream’s', async (t) => {
  const { upstream, front } = await start(t, { deadline: '1500ms' });
  const body = Buffer.alloc(32 * MiB, 'x');
  upstream.handle = (_seen, response) => response.end(body);
  const followed = await follow(t, front);
  followed.answer.pause();
  const sinceMs = performance.now();
  await until('its deadline is over, twice', () => performance.now() - sinceMs > 3_200);
  followed.answer.resume();
  await until('all of it came', () => followed.end !== null);
  t.same([followed.end, followed.text.length], ['ended', 32 * MiB]);
  t.equal(await failures(front), 0);
});

t.test('an upstream that is silent is cut; the 504 and `why` name the setting', async (t) => {
  const { upstream, front } = await start(t, { deadline: '1s' });
  upstream.handle = () => undefined;
  const refused = await front.send(request('GET /a', front.key, 'X-Request-Id: followed'));
  t.same([refused.status, codeOf(refused)], [504, 'upstream_timeout']);
  t.match(refused.body, /within 1s \(deadline\)/);
  t.match(await why(front), { code: 'upstream_timeout', setting: 'upstreams.default.deadline' });
  upstream.handle = (_seen, response) => void response.writeHead(200).write('x');
  const cut = await follow(t, front);
  await until('it is cut', () => cut.end === 'cut');
  t.match(await why(front), { code: 'upstream_timeout', setting: 'upstreams.default.deadline' });
  t.equal(await failures(front), 2);
});

t.test('lifetime ends what goes on for too long, and `why` says so', async (t) => {
  const { upstream, front } = await start(t, { lifetime: '1s' });
  upstream.handle = (_seen, response) => {
    const talk = setInterval(() => response.write('x'), 20);
    response.writeHead(200, { 'content-type': 'text/event-stream' }).on('close', () => clearInterval(talk));
  };
  const cut = await follow(t, front);
  await until('it is cut', () => cut.end === 'cut');
  t.match(await why(front), { setting: 'upstreams.default.lifetime' });
  t.equal(await failures(front), 0, 'no fault of the upstream');
});
