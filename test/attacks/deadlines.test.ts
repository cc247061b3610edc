import t from 'tap';
import { checkHonest, codeOf } from '../answers/honest.js';
import { startUpstream } from '../servers/upstream.js';
import { until } from '../servers/until.js';
import { request, startFront } from './front.js';

const CONNECTIONS = 4;
/** Three quarters of them are for one operation. */
const RUNNING = 3;

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
