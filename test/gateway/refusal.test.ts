import t from 'tap';
import { refuse, renderRefusal } from '../../src/gateway/answer.js';
import { isRefusal, REFUSALS, withHeaders } from '../../src/gateway/refusal.js';
import type { LimitedVerdict } from '../../src/gateway/admission/verdict.js';
import { DAY, MINUTE, STANDING } from './admission/verdict.js';
import { makeExchange } from './exchange.js';

const EMPTY = { limit: 60, remaining: 0, resetAtMs: 5000 };
const LIMITED: LimitedVerdict = {
  ...STANDING,
  ...{ outcome: 'limited', violated: 'minute', retryAtMs: 5000, exceeds: false },
  windows: [
    { ...MINUTE, ...EMPTY },
    { ...DAY, ...EMPTY },
  ],
  atMs: 1000,
};

t.test('every refusal of the catalogue is a whole Error that leaks nothing', (t) => {
  for (const [code, refusal] of Object.entries(REFUSALS)) {
    t.ok(isRefusal(refusal));
    const body = JSON.parse(refusal.body) as Record<string, unknown>;
    t.same(Object.keys(body), ['code', 'message', 'status'], code);
    t.same([body['code'], body['status']], [code, refusal.status]);
    t.notMatch(body['message'], /undici|redis|lmdb|node|stack|127\.0\.0\.1/i, `${code}: says nothing of our insides`);
    t.equal(
      refusal.status === 503,
      refusal.retryAfterS !== null,
      `${code}: a 503, and only it, knows by itself how long to wait`,
    );
  }
  t.end();
});

t.test('a refusal is rendered with its figures, its wait and the end of its connection', (t) => {
  const { exchange } = makeExchange();
  exchange.logEntry.verdict = LIMITED;
  exchange.logEntry.decidedMs = performance.now();
  const field = (headers: readonly string[], name: string): string | undefined => headers[headers.indexOf(name) + 1];
  const limited = renderRefusal(exchange, REFUSALS.rate_limited).headers;
  t.equal(field(limited, 'Retry-After'), '4');
  t.equal(field(limited, 'X-RateLimit-Reset'), '5');
  t.notOk(limited.includes('Connection'));
  t.notOk(
    renderRefusal(exchange, REFUSALS.not_found).headers.includes('Retry-After'),
    'where waiting does not help nobody is told to',
  );
  t.equal(field(renderRefusal(exchange, REFUSALS.overloaded).headers, 'Retry-After'), '1');
  t.equal(field(renderRefusal(exchange, REFUSALS.malformed_request).headers, 'Connection'), 'close');
  t.equal(
    field(renderRefusal(exchange, withHeaders(REFUSALS.method_not_allowed, 'Allow', 'GET')).headers, 'Allow'),
    'GET',
  );
  t.same(REFUSALS.method_not_allowed.headers, [], 'the catalogue itself stays as it was');
  t.end();
});

t.test('a refusal is sent, or cuts an answer that has begun', (t) => {
  const fresh = makeExchange();
  refuse(fresh.exchange, REFUSALS.not_found);
  t.match(fresh.written, { status: 404, body: REFUSALS.not_found.body, aborted: false });
  t.equal(fresh.exchange.logEntry.refusal, REFUSALS.not_found);
  const { exchange, written } = makeExchange();
  refuse({ ...exchange, client: { ...exchange.client, started: true } }, REFUSALS.upstream_failed);
  t.match(written, { status: 0, body: '', aborted: true }, 'nothing of an error goes into the middle of it');
  t.end();
});
