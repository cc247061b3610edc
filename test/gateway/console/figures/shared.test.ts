import t from 'tap';
import { History } from '../../../../src/gateway/console/figures/history.js';
import { Sample } from '../../../../src/gateway/console/figures/sample.js';
import { SharedPoints } from '../../../../src/gateway/console/figures/shared.js';
import { Span } from '../../../../src/gateway/console/figures/window.js';
import { openRedisEngine } from '../../../../src/gateway/store/redis/engine.js';
import { notesName } from '../../../../src/gateway/store/redis/keyspace/names.js';
import { PLANS } from '../../../conformance/cast.js';
import { redisEngineFor } from '../../../conformance/redis-engine.js';
import { startRedis } from '../../../servers/redis.js';

const NOON_MS = Date.UTC(2026, 10, 21, 12);
const MINUTE_MS = 60_000;
const RANGES = ['15 min', '1 h', '24 h', '7 d'] as const;

const sample = (count: number, atMs: number): Sample =>
  new Sample(
    `petgate_requests_total{class="2xx"} ${count}\npetgate_request_duration_seconds_bucket{le="+Inf"} ${count}\n`,
    atMs,
  );
/** What a gateway has after a sample in which it counted this many. */
const grown = (count: number, atMs: number): Span => new Span(sample(0, atMs), sample(count, atMs));

t.test('the plots of each gateway have the requests of all, also of those that have ended', async (t) => {
  const { redis, engine } = await redisEngineFor(t);
  const gateway = (id: string): History => new History(null, new SharedPoints(engine.fleet.notes(id)));
  const [one, other] = [gateway('one'), gateway('other')];
  for (const minute of [0, 1, 2]) {
    await one.add(grown(100, NOON_MS + minute * MINUTE_MS));
    await one.add(grown(50, NOON_MS + minute * MINUTE_MS + 1));
    await other.add(grown(1, NOON_MS + minute * MINUTE_MS));
  }
  const restarted = gateway('one, started again');
  await restarted.add(grown(2, NOON_MS + 2 * MINUTE_MS));
  const nowMs = NOON_MS + 2 * MINUTE_MS;
  for (const history of [one, other, restarted, gateway('a fourth')]) {
    const minutes = await history.points('15 min', nowMs);
    t.strictSame(
      minutes.slice(-4).map(({ classes }) => classes),
      [{}, { '2xx': 151 }, { '2xx': 151 }, { '2xx': 153 }],
    );
    t.strictSame(minutes.at(-1)?.latency, [[Infinity, 153]]);
    for (const range of RANGES)
      t.equal(
        (await history.points(range, nowMs)).reduce((sum, { classes }) => sum + (classes['2xx'] ?? 0), 0),
        455,
        range,
      );
  }
  const name = notesName(`figures:1:${NOON_MS / MINUTE_MS}`);
  t.ok(Number(await redis.command('PTTL', name)) <= 61 * MINUTE_MS, 'they end');
});

t.test('without its store a gateway plots its own requests', async (t) => {
  const redis = await startRedis();
  const engine = openRedisEngine({ url: redis.url, deadlineMs: 1_000, plans: PLANS, usageDays: 400 });
  t.teardown(() => engine.close());
  const history = new History(null, new SharedPoints(engine.fleet.notes('one')));
  await history.add(grown(5, NOON_MS));
  await redis.stop();
  await history.add(grown(7, NOON_MS));
  t.match((await history.points('15 min', NOON_MS)).at(-1)?.classes, { '2xx': 12 });
});
