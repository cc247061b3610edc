import t from 'tap';
import { checkHonest, codeOf } from '../answers/honest.js';
import type { RawAnswer } from '../servers/raw.js';
import { redisFor } from '../servers/redis.js';
import { startUpstream } from '../servers/upstream.js';
import { IN_TIME_MS } from '../servers/in-time.js';
import { statusesOf } from '../servers/raw.js';
import { until } from '../servers/until.js';
import { request, startFront } from './front.js';

/**
 * The attack: the store is gone, or worse, is there and says nothing. A gateway that waits for it
 * hangs with it; one that lets pass admits without limit; one that fails says 500 without figures.
 */
t.test('without its store every request is answered within a second, honestly, and never by a 500', async (t) => {
  // One that comes back without its data is not believed.
  const redis = await redisFor(t, { config: ['appendonly yes', 'appendfsync always'] });
  const upstream = await startUpstream(t);
  const front = await startFront(t, upstream.url, {
    config: { store: { on_failure: 'refuse' } },
    environment: { REDIS_URL: redis.url },
  });
  await until('it serves', async () => (await front.good()) === 200);
  const away = {
    frozen: [() => redis.freeze(), () => redis.thaw()],
    killed: [() => redis.kill(), () => redis.restart()],
  } as const;
  for (const [name, [leave, come]] of Object.entries(away)) {
    await leave();
    upstream.seen.length = 0;
    const ask = async (bytes: string, status: number, code: string): Promise<void> => {
      const startMs = performance.now();
      const answer: RawAnswer = await front.send(bytes);
      const tookMs = performance.now() - startMs;
      t.ok(tookMs < IN_TIME_MS, `${name}: answered after ${tookMs.toFixed(0)} ms`);
      t.equal(answer.status, status, `${name}: ${status}`);
      t.equal(codeOf(answer), code);
      checkHonest(t, answer, name);
    };
    for (let n = 0; n < 5; n += 1) {
      await Promise.all([
        ...Array.from({ length: 10 }, () => ask(request('GET /v1/pets', front.key), 503, 'store_unavailable')),
        ask(`${request('POST /v1/pets', front.key, 'Content-Length: 2')}{}`, 503, 'store_unavailable'),
        ask(request('GET /v1/pets'), 503, 'store_unavailable'),
        ask(request('GET /v1/cats', front.key), 503, 'store_unavailable'),
        ask(request('GET /v1/pets', 'Host: y', front.key), 400, 'malformed_request'),
        ask('BLARG\r\n\r\n', 400, 'malformed_request'),
      ]);
    }
    t.equal(upstream.seen.length, 0, `${name}: nothing unadmitted was forwarded`);
    await come();
    await until('it serves again', async () => (await front.good()) === 200);
    await front.idle();
  }
});

/**
 * The attack: more at once than the gateway can hold. Taken on, all of them get slow; refused at once, most are served.
 */
t.test('above the exchanges it may hold, a request is told so at once, and the others go on', async (t) => {
  const upstream = await startUpstream(t);
  const front = await startFront(t, upstream.url, { config: { limits: { exchanges: 3 } } });
  const held: (() => void)[] = [];
  upstream.handle = (_seen, response) => void held.push(() => response.end('[]'));
  const inside = Array.from({ length: 3 }, () => front.send(request('GET /v1/pets', front.key)));
  await until('all places are taken', () => held.length === 3);
  for (const bytes of [
    request('GET /v1/pets', front.key),
    request('GET /v1/pets'),
    request('OPTIONS /v1/pets'),
    `${request('POST /v1/pets', front.key, 'Content-Length: 2')}{}`,
  ]) {
    const answer = await front.send(bytes);
    t.equal(answer.status, 503);
    t.equal(codeOf(answer), 'overloaded');
    t.not(answer.headers.get('connection'), 'close', 'the connection may stay: opening another would cost more');
    checkHonest(t, answer, 'overloaded');
  }
  for (const end of held) end();
  t.same(statusesOf(await Promise.all(inside)), [200, 200, 200]);
  await front.idle();
  upstream.handle = (_seen, response) => response.end('[]');
  t.equal(await front.good(), 200);
});
