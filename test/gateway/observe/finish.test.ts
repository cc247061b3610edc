import t from 'tap';
import { RecentExchanges } from '../../../src/gateway/observe/recent/memory.js';
import type { EndedRequest } from '../../../src/gateway/store/port.js';
import { REFUSALS } from '../../../src/gateway/refusal.js';
import type { Exchange, ExchangeLog } from '../../../src/gateway/exchange.js';
import { AccessLine } from '../../../src/gateway/observe/log/access-line.js';
import { createMetrics, type Metrics } from '../../../src/gateway/observe/metrics/metrics.js';
import { createFinish, createTunnelOpened, type AccessLog } from '../../../src/gateway/observe/finish.js';
import { ADMITTED } from '../admission/verdict.js';
import { makeExchange } from '../exchange.js';

const NO_PLANS = new Map<string, never>();
const VERDICT = { ...ADMITTED, keyId: 'k1', atMs: 1234 };

interface Told {
  readonly failures: readonly EndedRequest[];
  readonly line: Readonly<Record<string, unknown>>;
  readonly metrics: string;
}

function newMetrics(): Metrics {
  const metrics = createMetrics({ engine: 'embedded', plans: ['free'], upstreams: ['pets'], maxOperations: 1 });
  metrics.nameOperations(['listPets']);
  return metrics;
}

async function finished(
  logEntry: Partial<ExchangeLog>,
  status: number,
  client: Partial<Exchange['client']> = {},
): Promise<Told> {
  const made = makeExchange({ authorization: 'Bearer a-secret' }).exchange;
  const exchange: Exchange = {
    ...made,
    client: { ...made.client, ...client },
    logEntry: { ...made.logEntry, operation: 'listPets', ...logEntry },
  };
  const failures: EndedRequest[] = [];
  let line: Record<string, unknown> = {};
  const metrics = newMetrics();
  const access: AccessLog = {
    Line: AccessLine,
    write: (text) => (line = JSON.parse(String(text)) as Record<string, unknown>),
    sampled: 1,
  };
  createFinish(metrics, access, (failure) => failures.push(failure), new RecentExchanges(), NO_PLANS)(exchange, status);
  return { failures, line, metrics: await metrics.registry.metrics() };
}

t.test('an admitted request that ended in a 5xx is credited, with the day of its admission', async (t) => {
  const credit = { keyId: 'k1', plan: 'free', operation: 'listPets', admittedAtMs: 1234, isFailed: true };
  t.same((await finished({ verdict: VERDICT, counted: true }, 500)).failures, [credit]);
  t.same((await finished({ verdict: VERDICT, counted: true, refusal: REFUSALS.upstream_timeout }, 504)).failures, [
    credit,
  ]);
  for (const status of [200, 404, 429])
    t.same((await finished({ verdict: VERDICT, counted: true }, status)).failures, [], String(status));
  t.same(
    (await finished({ verdict: VERDICT, counted: false }, 503)).failures,
    [],
    'what was not counted is not credited',
  );
  t.same((await finished({ verdict: null, counted: true }, 503)).failures, []);
});

t.test(
  'an admission that was given up: its line waits for what the store did, and what it admitted has failed',
  async (t) => {
    const { exchange } = makeExchange({});
    const { logEntry } = exchange;
    let heard = (): void => undefined;
    Object.assign(logEntry, { refusal: REFUSALS.store_unavailable, unanswered: 'k1' });
    logEntry.late = new Promise((resolve) => (heard = resolve));
    const failures: EndedRequest[] = [];
    const lines: unknown[] = [];
    const write: AccessLog['write'] = (text) => lines.push(JSON.parse(String(text)));
    createFinish(
      newMetrics(),
      { Line: AccessLine, write, sampled: 1 },
      (failure) => failures.push(failure),
      new RecentExchanges(),
      NO_PLANS,
    )(exchange, 503);
    t.same([lines, failures], [[], []]);
    Object.assign(logEntry, { verdict: VERDICT, counted: true });
    heard();
    await logEntry.late;
    t.match(lines, [{ status: 503, code: 'store_unavailable', key: 'k1', counted: true, outcome: 'admitted' }]);
    t.match(failures, [{ keyId: 'k1', admittedAtMs: VERDICT.atMs, isFailed: true }]);
    const unheard = await finished({ keyId: 'k1', counted: null }, 503);
    t.match(unheard.line, { key: 'k1', counted: null, units: 0, admittedAt: null });
    t.same(unheard.failures, []);
  },
);

t.test('an answer that broke after it began is no success', async (t) => {
  const told = await finished({ verdict: VERDICT, counted: true, refusal: REFUSALS.upstream_failed }, 200, {
    started: true,
    gone: true,
  });
  t.equal(told.line['status'], 502);
  t.equal(told.failures.length, 1);
  t.match(told.metrics, 'petgate_requests_total{operation="listPets",class="5xx"} 1');
});

t.test('a client that left before its answer is told as such, and costs nobody a failure report', async (t) => {
  const told = await finished({ verdict: VERDICT, counted: true }, 200, { gone: true });
  t.equal(told.line['status'], 499);
  t.same(told.failures, []);
  t.equal(
    (await finished({ verdict: VERDICT, counted: true }, 200, { gone: true, started: true })).line['status'],
    200,
    'one that left in the middle got a status',
  );
});

t.test('the line tells what became of it, and never a credential', async (t) => {
  const { line, metrics } = await finished(
    { verdict: VERDICT, counted: true, admissionMs: 1.23456, upstreamMs: 2, upstream: 'pets', refusal: null },
    200,
    { bytesOut: 7 },
  );
  t.match(line, {
    request: 'id',
    trace: '4bf92f3577b34da6a3ce929d0e0e4736',
    span: '00f067aa0ba902b7',
    method: 'GET',
    operation: 'listPets',
    key: 'k1',
    plan: 'free',
    outcome: 'admitted',
    code: null,
    status: 200,
    bytes: 7,
    admissionMs: 1.235,
    upstreamMs: 2,
    counted: true,
  });
  t.notMatch(JSON.stringify(line), /a-secret|Bearer/);
  t.match(metrics, 'petgate_upstream_duration_seconds_count{upstream="pets"} 1');
  t.match((await finished({ refusal: REFUSALS.not_found }, 404)).metrics, 'petgate_refusals_total{code="not_found"} 1');
});

t.test('of a tunnel, metrics hear when it opens, and the line tells how it ended', async (t) => {
  const tunnel = { openedMs: 1, bytesIn: 9, bytesOut: 7, closedBy: 'idle' } as const;
  const { line, metrics, failures } = await finished(
    { verdict: VERDICT, counted: true, upstream: 'pets', upstreamMs: 5, tunnel },
    101,
    { bytesOut: 7, started: true },
  );
  t.match(line, { status: 101, bytes: 7, bytesIn: 9, closedBy: 'idle' });
  t.same(failures, []);
  t.notMatch(metrics, /petgate_requests_total{operation="listPets",class="1xx"}/, 'nothing at its end');
  const told = newMetrics();
  createTunnelOpened(told)({
    ...makeExchange().exchange,
    logEntry: { ...makeExchange().exchange.logEntry, operation: 'listPets', upstream: 'pets', upstreamMs: 5, tunnel },
  });
  t.match(await told.registry.metrics(), 'petgate_requests_total{operation="listPets",class="1xx"} 1');
  t.match(await told.registry.metrics(), 'petgate_upstream_duration_seconds_sum{upstream="pets"} 0.005');
  t.notMatch(
    JSON.stringify((await finished({ verdict: VERDICT }, 200)).line),
    /bytesIn|closedBy/,
    'and a plain line has none of it',
  );
});

t.test('of a long body the line has what came of it, whatever became of that', async (t) => {
  const { line } = await finished({ verdict: VERDICT, counted: true, rest: { bytes: 5 * 2 ** 30 } }, 413);
  t.match(line, { status: 413, bytesIn: 5 * 2 ** 30 });
});

t.test('a sample holds about its share of what went well, all of what did not, and says that it is one', (t) => {
  const made = makeExchange().exchange;
  const lines: string[] = [];
  const metrics = newMetrics();
  const finishAll = (sampled: number, status: number): readonly string[] => {
    const write: AccessLog['write'] = (line) => lines.push(String(line));
    const finish = createFinish(
      metrics,
      { Line: AccessLine, write, sampled },
      () => undefined,
      new RecentExchanges(),
      NO_PLANS,
    );
    for (let n = 0; n < 10_000; n += 1) finish(made, status);
    return lines.splice(0);
  };
  const tenth = finishAll(0.1, 204).length;
  t.ok(tenth > 800 && tenth < 1_200, `${tenth} of 10,000`);
  for (const status of [400, 429, 503]) t.equal(finishAll(0, status).length, 10_000, String(status));
  t.equal(finishAll(0, 200).length, 0);
  t.ok(finishAll(0.1, 400).every((line) => line.includes('"sampled":0.1,') && JSON.parse(line) !== null));
  t.notMatch(finishAll(1, 200).join(''), 'sampled', 'a whole log says nothing of it');
  t.end();
});
