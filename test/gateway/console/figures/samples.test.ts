import t from 'tap';
import { History } from '../../../../src/gateway/console/figures/history.js';
import { Sample } from '../../../../src/gateway/console/figures/sample.js';
import { Samples } from '../../../../src/gateway/console/figures/samples.js';
import { Span } from '../../../../src/gateway/console/figures/window.js';

const text = (count: number): string => `# HELP petgate_requests_total Exchanges
# TYPE petgate_requests_total counter
petgate_requests_total{operation="a \\"b\\" {x}",class="2xx"} ${count}
petgate_requests_total{operation="c",class="5xx"} ${count / 10}
petgate_time_seconds_bucket{operation="c",le="0.1"} ${count / 2}
petgate_time_seconds_bucket{operation="c",le="1"} ${count}
petgate_time_seconds_bucket{operation="c",le="+Inf"} ${count}
petgate_store_up 1
`;

t.test('figures are read as Prometheus would read them', (t) => {
  const sample = new Sample(text(100), 0);
  t.equal(sample.sum('petgate_requests_total'), 110);
  t.equal(sample.sum('petgate_requests_total', 'class', '5xx'), 10);
  t.strictSame(
    [...sample.by('petgate_requests_total', 'operation')],
    [
      ['a "b" {x}', 100],
      ['c', 10],
    ],
  );
  t.equal(sample.value('petgate_store_up'), 1);
  t.equal(sample.value('petgate_nothing'), undefined);
  t.end();
});

t.test('what went on in between is what counters grew by, also past a restart', (t) => {
  const span = new Span(new Sample(text(100), 0), new Sample(text(300), 2_000));
  t.equal(span.seconds, 2);
  t.equal(span.grown('petgate_requests_total', 'class', '2xx'), 200);
  t.equal(span.quantile('petgate_time_seconds', 0.5), 0.1);
  t.equal(span.quantile('petgate_time_seconds', 0.99), 1);
  t.equal(span.quantile('petgate_nothing', 0.5), null);
  t.equal(new Span(span.to, span.from).grown('petgate_requests_total', 'class', '2xx'), 100);
  t.end();
});

t.test(
  'however many watch, metrics are read every five seconds at most, and a page is made once for each',
  async (t) => {
    let [nowMs, reads, renders] = [0, 0, 0];
    const samples = new Samples(
      () => Promise.resolve(text((reads += 1))),
      () => nowMs,
      new History(null),
    );
    const watch = (): Promise<string> => samples.rendered('all', () => Promise.resolve(String((renders += 1))));
    t.strictSame(new Set(await Promise.all(Array.from({ length: 50 }, watch))), new Set(['1']));
    nowMs = 4_999;
    await watch();
    t.same([reads, renders], [1, 1]);
    nowMs = 5_000;
    await Promise.all(Array.from({ length: 50 }, watch));
    t.same([reads, renders], [2, 2]);
  },
);

t.test('figures are of the last minute, and each sample goes into the history once', async (t) => {
  let nowMs = 0;
  const samples = new Samples(
    () => Promise.resolve(text(nowMs)),
    () => nowMs,
    new History(null),
  );
  for (; nowMs < 20 * 60_000; nowMs += 10_000) await samples.latest();
  const span = await samples.span();
  t.equal(span.seconds, 60);
  const points = await samples.history.points('1 h', nowMs);
  t.equal(points.at(-2)?.classes['2xx'], 60_000, 'as much as a minute grew by');
});

t.test('what could not be read is asked for again', async (t) => {
  let reads = 0;
  const samples = new Samples(
    () => ((reads += 1) === 1 ? Promise.reject(new Error('away')) : Promise.resolve('')),
    () => 0,
    new History(null),
  );
  await t.rejects(samples.latest());
  await t.resolves(samples.latest());
});
