import t from 'tap';
import { checkHonest, codeOf } from '../answers/honest.js';
import { statusesOf } from '../servers/raw.js';
import { startUpstream } from '../servers/upstream.js';
import { until } from '../servers/until.js';
import { request, startFront } from './front.js';

const CONNECTIONS = 4;
/** Three quarters of them are for one operation; and beside each that it has, four requests may wait. */
const RUNNING = 3;
const PLACES = RUNNING * (1 + 4);

/** The attack: an upstream that never answers. A deadline below a second must not become one of a second and more. */
t.test('a deadline below a second fires in time, also for a request that waits for a connection', async (t) => {
  const upstream = await startUpstream(t);
  const front = await startFront(t, upstream.url, {
    config: { limits: { caller_share: 1 } },
    pets: { connections: CONNECTIONS, deadline: '200ms', breaker: 'off' },
  });
  upstream.handle = () => undefined;
  const timed = Array.from({ length: RUNNING * 3 }, async () => {
    const startMs = performance.now();
    const answer = await front.send(request('GET /v1/pets', front.key));
    checkHonest(t, answer, '504');
    return { status: answer.status, code: codeOf(answer), tookMs: performance.now() - startMs };
  });
  for (const { status, code, tookMs } of await Promise.all(timed)) {
    t.equal(status, 504);
    t.equal(code, 'upstream_timeout');
    t.ok(tookMs >= 190, `after ${tookMs.toFixed(0)} ms`);
  }
  await until('no connection of a given-up request is kept', async () => (await front.inFlight()) === 0);
  upstream.handle = (_seen, response) => response.end('[]');
  t.equal(await front.good(), 200, 'the connections are usable again');
});

/** The attack: an upstream that drips a response, each byte before any limit of its silence. */
t.test('a dripping response meets its lifetime', async (t) => {
  const upstream = await startUpstream(t);
  const front = await startFront(t, upstream.url, { pets: { deadline: '1s', lifetime: '300ms' } });
  upstream.handle = (_seen, response) => {
    const drip = setInterval(() => response.write('x'), 20);
    response.writeHead(200).on('close', () => clearInterval(drip));
  };
  const received = fetch(`${front.gateway.url}/v1/pets`, {
    headers: { authorization: front.key.slice('Authorization: '.length) },
  }).then((answer) => answer.text());
  await t.rejects(received, 'it is cut, and never ends in order');
  await front.idle();
});

/** The attack: requests without end wait for a service that is stuck, until memory is gone. */
t.test('no more than a few requests wait for each connection; the rest is told at once', async (t) => {
  const upstream = await startUpstream(t);
  const front = await startFront(t, upstream.url, {
    config: { limits: { caller_share: 1 } },
    pets: { connections: CONNECTIONS, deadline: '60s' },
  });
  const waiting: ((end: string) => void)[] = [];
  upstream.handle = (_seen, response) => void waiting.push((text) => response.end(text));
  const inside = Array.from({ length: PLACES }, () => front.send(request('GET /v1/pets', front.key)));
  await until('all places are taken', async () => (await front.inFlight()) === PLACES && waiting.length === RUNNING);
  for (let n = 0; n < 5; n += 1) {
    const answer = await front.send(request('GET /v1/pets', front.key));
    t.equal(codeOf(answer), 'overloaded');
    t.equal(answer.status, 503);
    checkHonest(t, answer, 'overloaded');
    t.equal(await front.inFlight(), PLACES, 'told while all others wait');
  }
  upstream.handle = (_seen, response) => response.end('[]');
  for (const end of waiting) end('[]');
  t.same(statusesOf(await Promise.all(inside)), Array<number>(PLACES).fill(200), 'and those inside are served');
});

/** The attack: a host that takes no connection and says nothing (an address that routes nowhere). */
t.test('a service that cannot be reached is a 503 in time, and is tried again', async (t) => {
  const front = await startFront(t, 'http://127.0.0.1:1', { pets: { connect: '200ms' } });
  for (let n = 0; n < 5; n += 1) {
    const answer = await front.send(request('GET /v1/pets', front.key));
    t.equal(codeOf(answer), 'upstream_unavailable');
    checkHonest(t, answer, 'unreachable');
  }
});
