import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { History } from '../../../../src/gateway/console/figures/history.js';
import type { Point } from '../../../../src/gateway/console/figures/point.js';
import { Sample } from '../../../../src/gateway/console/figures/sample.js';
import { Span } from '../../../../src/gateway/console/figures/window.js';
import { temporaryFolder } from '../../../servers/program.js';
import { until } from '../../../servers/until.js';

const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;
const NOON_MS = Date.UTC(2026, 10, 21, 12);

/** What a gateway has counted after so many requests, each tenth of which failed at the upstream. */
const text = (count: number, up = 1): string => `petgate_requests_total{class="2xx"} ${count - count / 10}
petgate_requests_total{class="5xx"} ${count / 10}
petgate_limited_total{plan="free",window="day"} ${count / 20}
petgate_banned_total{plan="free"} ${count / 20}
petgate_request_duration_seconds_bucket{le="0.1"} ${count / 2}
petgate_request_duration_seconds_bucket{le="+Inf"} ${count}
petgate_upstream_duration_seconds_bucket{upstream="pets",le="0.1"} ${count}
petgate_upstream_duration_seconds_bucket{upstream="pets",le="+Inf"} ${count}
petgate_upstream_duration_seconds_count{upstream="pets"} ${count}
petgate_upstream_failures_total{upstream="pets",kind="refused"} ${count / 10}
petgate_upstream_errors_total{upstream="pets"} ${count / 20}
petgate_upstream_up_ratio{upstream="pets"} ${up}
petgate_upstream_addresses{upstream="pets"} 2
`;

/** 100 requests in each half minute of this time. */
function run(history: History, fromMs: number, toMs: number): void {
  for (let [atMs, count] = [fromMs, 0]; atMs < toMs; atMs += MINUTE_MS / 2, count += 100)
    void history.add(new Span(new Sample(text(count), atMs - MINUTE_MS / 2), new Sample(text(count + 100), atMs)));
}

const requestsIn = (points: readonly Point[]): readonly number[] =>
  points.map(({ classes }) => Object.values(classes).reduce((sum, count) => sum + count, 0));

t.test(
  'every range has a point for each of its steps, without a gap, and together they have all requests',
  async (t) => {
    const history = new History(null);
    run(history, NOON_MS, NOON_MS + 2 * HOUR_MS);
    const nowMs = NOON_MS + 2 * HOUR_MS;
    const minutes = await history.points('15 min', nowMs - 1);
    t.strictSame(
      requestsIn(minutes),
      Array.from({ length: 15 }, () => 200),
    );
    t.match(minutes[0], {
      atMs: nowMs - 15 * MINUTE_MS,
      classes: { '2xx': 180, '5xx': 20 },
      limited: 20,
      latency: [
        [0.1, 100],
        [Infinity, 100],
      ],
      upstreams: { pets: { requests: 200, failed: 20, errors: 10, latency: [[0.1, 200]] } },
    });
    t.equal(requestsIn(await history.points('1 h', nowMs - 1)).length, 60);
    const day = await history.points('24 h', nowMs - 1);
    t.strictSame(requestsIn(day).slice(-9), [0, ...Array.from({ length: 8 }, () => 15 * 200)]);
    t.equal(day.length, 96);
    const week = await history.points('7 d', nowMs - 1);
    t.strictSame([week.length, ...requestsIn(week).slice(-3)], [168, 0, 12_000, 12_000]);
  },
);

t.test('a clock that steps back loses no request', async (t) => {
  const history = new History(null);
  run(history, NOON_MS, NOON_MS + 5 * MINUTE_MS);
  run(history, NOON_MS - 5 * MINUTE_MS, NOON_MS);
  const all = requestsIn(await history.points('1 h', NOON_MS + 5 * MINUTE_MS)).reduce((sum, count) => sum + count, 0);
  t.equal(all, 2_000);
});

t.test('a clock that was a year ahead for a while does not stop the plots for a year', async (t) => {
  const history = new History(null);
  run(history, NOON_MS + 365 * 24 * HOUR_MS, NOON_MS + 365 * 24 * HOUR_MS + 3 * MINUTE_MS);
  run(history, NOON_MS, NOON_MS + 3 * MINUTE_MS);
  t.strictSame(requestsIn(await history.points('15 min', NOON_MS + 2 * MINUTE_MS)).slice(-3), [200, 200, 200]);
  t.equal(requestsIn(await history.points('7 d', NOON_MS + 2 * MINUTE_MS)).at(-1), 600);
});

t.test('what was measured outlives a restart', async (t) => {
  const folder = temporaryFolder(t);
  run(new History(folder), NOON_MS, NOON_MS + 10 * MINUTE_MS);
  const file = join(folder, 'figures', 'minutes.ndjson');
  await until('all but the current minute are written', () => readFileSync(file, 'utf8').split('\n').length === 10);
  const after = await new History(folder).points('15 min', NOON_MS + 9 * MINUTE_MS);
  t.strictSame(requestsIn(after), [0, 0, 0, 0, 0, ...Array.from({ length: 9 }, () => 200), 0]);
  t.equal(after[5]?.latency[1]?.[0], Infinity);
  const hours = await new History(folder).points('7 d', NOON_MS + 9 * MINUTE_MS);
  t.equal(requestsIn(hours).at(-1), 1_800, 'the hour that was cut short');
});

t.test('a file of version 0.4 is read, without what it lacks of upstreams', async (t) => {
  const folder = temporaryFolder(t);
  mkdirSync(join(folder, 'figures'));
  const point = { atMs: NOON_MS, classes: { '2xx': 5 }, limited: 0, latency: [[0.1, 5]] };
  const line = JSON.stringify({ ...point, upstreams: { pets: { requests: 5, failed: 1, p99: 0.1 } } });
  writeFileSync(join(folder, 'figures', 'minutes.ndjson'), `${line}\n`);
  const [read] = (await new History(folder).points('15 min', NOON_MS)).slice(-1);
  t.match(read, { ...point, upstreams: { pets: { requests: 5, failed: 1, errors: 0, latency: [] } } });
});

t.test('a point has the figures of eight upstreams at most', async (t) => {
  const history = new History(null);
  const names = Array.from({ length: 12 }, (_, n) => `u${n + 10}`);
  const sample = (count: number) =>
    new Sample(names.map((name) => text(count).replaceAll('pets', name)).join(''), NOON_MS);
  await history.add(new Span(sample(0), sample(100)));
  t.strictSame(Object.keys((await history.points('15 min', NOON_MS)).at(-1)!.upstreams), names.slice(0, 8));
});

t.test('an upstream is up, or down, since it was first seen so', (t) => {
  const history = new History(null);
  for (const [minute, up] of [1, 1, 0, 0, 0.5].entries()) {
    const sample = new Sample(text(0, up), minute * MINUTE_MS);
    void history.add(new Span(sample, sample));
    t.strictSame(history.stateOf('pets'), { up, addresses: 2, sinceMs: [0, 0, 2, 2, 4][minute]! * MINUTE_MS });
  }
  t.equal(history.stateOf('nobody'), undefined);
  t.end();
});
