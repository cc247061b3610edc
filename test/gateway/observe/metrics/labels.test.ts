import t from 'tap';
import { loadContract } from '../../../../src/gateway/contract/load.js';
import { createMetrics } from '../../../../src/gateway/observe/metrics/metrics.js';
import { REASONS } from '../../../../src/gateway/refusals/reasons.js';
import { REFUSALS } from '../../../../src/gateway/refusal.js';
import { UPSTREAM_FAILURES } from '../../../../src/gateway/upstream/addresses/failure.js';
import { ADMITTED, STANDING } from '../../admission/verdict.js';

t.test('labels come from closed sets: no key, address or path, and no status but its class', async (t) => {
  const operations = [...loadContract().routes.operations.map(({ id }) => id), 'options', 'unmatched', 'malformed'];
  const metrics = createMetrics({
    engine: 'embedded',
    plans: ['free', 'anonymous'],
    upstreams: ['pets'],
    maxOperations: 500,
  });
  metrics.nameOperations(operations);
  const at = { ...STANDING, keyId: 'secretkeyid1' };
  for (const operation of operations) {
    for (const status of [200, 201, 204, 304, 404, 429, 499, 503, 599]) metrics.exchange(operation, status, 0.01);
    metrics.verdict({ ...ADMITTED, keyId: 'secretkeyid1' }, operation);
    metrics.verdict({ ...ADMITTED, keyId: null, plan: 'anonymous' }, operation);
    for (const violated of ['minute', 'day', 'month', 'createPet-minute'])
      metrics.verdict({ ...at, outcome: 'limited', violated, retryAtMs: 0, exceeds: false }, operation);
    for (const started of [true, false])
      metrics.verdict({ ...at, outcome: 'banned', bannedUntilMs: 0, retryAtMs: 0, level: 1, started }, operation);
  }
  for (const code of Object.keys(REFUSALS)) metrics.refusal(code);
  metrics.admission(0.001);
  metrics.batch(3);
  metrics.upstream('pets', 0.01, 200);
  for (const kind of UPSTREAM_FAILURES) metrics.upstreamFailed('pets', kind);

  const text = await metrics.registry.metrics();
  t.notMatch(text, /secretkeyid1|\/v1\/|192\.0\.2/);
  const sets: Readonly<Record<string, readonly string[]>> = {
    operation: operations,
    class: ['2xx', '3xx', '4xx', '5xx'],
    kind: UPSTREAM_FAILURES,
    reason: Object.keys(REASONS),
    plan: ['free', 'anonymous'],
    window: ['minute', 'day', 'month', 'balance', 'operation', 'concurrency'],
    code: Object.keys(REFUSALS),
    engine: ['embedded'],
    upstream: ['pets'],
  };
  for (const [, labels = ''] of text.matchAll(/^petgate_\w+\{(.*)\} /gm)) {
    for (const [, name = '', value = ''] of labels.matchAll(/(\w+)="([^"]*)"/g)) {
      if (name !== 'le') t.ok(sets[name]?.includes(value), `${name}="${value}" is of a closed set`);
    }
  }
});

t.test(
  'the first operations of a contract have series of their own from their first use on, all others share one',
  async (t) => {
    const metrics = createMetrics({ engine: 'embedded', plans: ['free'], upstreams: [], maxOperations: 2 });
    metrics.nameOperations(['a', 'b', 'c', 'd']);
    const seriesOf = async (): Promise<readonly string[]> =>
      [
        ...(await metrics.registry.metrics()).matchAll(
          /^petgate_requests_total\{operation="(\w+)",class="2xx"\} (\d+)$/gm,
        ),
      ]
        .map(([, operation, count]) => `${operation} ${count}`)
        .filter((line) => !/unmatched|malformed|options/.test(line));
    t.same(await seriesOf(), []);
    for (const operation of ['d', 'c', 'b', 'c']) {
      metrics.exchange(operation, 200, 0.01);
      metrics.verdict({ ...ADMITTED, keyId: 'k' }, operation);
    }
    t.same(await seriesOf(), ['other 3', 'b 1']);
    metrics.nameOperations(['x']);
    metrics.exchange('x', 200, 0.01);
    t.same(await seriesOf(), ['other 4', 'b 1'], 'a contract that comes later brings no more');
    const text = await metrics.registry.metrics();
    t.match(text, 'petgate_requests_total{operation="b",class="5xx"} 0');
    t.match(text, 'petgate_admitted_total{plan="free",operation="other"} 3');
    t.match(text, 'petgate_request_duration_seconds_count{operation="other"} 4');
    t.equal(text.match(/^petgate_request_duration_seconds_count\{operation="other"\}/gm)?.length, 1);
  },
);
