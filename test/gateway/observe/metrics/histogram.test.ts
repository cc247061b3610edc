import { AggregatorRegistry, Histogram, Registry } from 'prom-client';
import t from 'tap';
import { QuickHistogram } from '../../../../src/gateway/observe/metrics/histogram.js';

const SHAPE = {
  name: 'petgate_x_seconds',
  help: 'A figure.',
  labelNames: ['plan', 'window'] as const,
  buckets: [0.001, 0.5, 1, 2.5],
};
const VALUES = [0, 0.0005, 0.001, 0.0011, 0.5, 0.9, 1, 2.4999, 2.5, 2.51, 1e6];
const LABELS = [
  { plan: 'free', window: 'minute' },
  { plan: 'pro', window: 'day' },
  { plan: 'never', window: 'seen' },
];

/** The same observations in prom-client's own histogram and in ours. */
function both(): readonly [Registry, Registry] {
  const [theirs, ours] = [new Registry(), new Registry()];
  const histogram = new Histogram({ ...SHAPE, registers: [theirs] });
  const quick = new QuickHistogram({ ...SHAPE, registers: [ours] });
  for (const [index, labels] of LABELS.entries()) {
    histogram.zero(labels);
    const series = quick.series(labels);
    for (const value of index < 2 ? VALUES.slice(index) : []) {
      histogram.observe(labels, value);
      series.observe(value);
    }
  }
  return [theirs, ours];
}

t.test("it tells what prom-client's histogram tells, as text and as JSON", async (t) => {
  const [theirs, ours] = both();
  t.equal(await ours.metrics(), await theirs.metrics());
  const [own] = await ours.getMetricsAsJSON();
  const [their] = await theirs.getMetricsAsJSON();
  // Exemplars, which we have none of, are left out.
  const values = their?.values.map(({ value, labels, ...rest }) => ({
    metricName: (rest as { metricName: string }).metricName,
    value,
    labels,
  }));
  t.strictSame(own, { ...their, values });
  t.equal(await ours.metrics(), await ours.metrics(), 'asking changes nothing');
});

t.test("workers' figures add up", async (t) => {
  const [theirs, ours] = both();
  const sum = async (registry: Registry): Promise<string> =>
    AggregatorRegistry.aggregate([await registry.getMetricsAsJSON(), await registry.getMetricsAsJSON()]).metrics();
  t.equal(await sum(ours), await sum(theirs));
});

t.test('without labels it begins at 0', async (t) => {
  const registry = new Registry();
  new QuickHistogram({ name: 'petgate_y', help: 'Another.', buckets: [1], registers: [registry] })
    .series({})
    .observe(1);
  t.match(
    await registry.metrics(),
    /petgate_y_bucket\{le="1"\} 1\npetgate_y_bucket\{le="\+Inf"\} 1\npetgate_y_sum 1\npetgate_y_count 1\n/,
  );
});
