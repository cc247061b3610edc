import t from 'tap';
import { refuse, renderRefusal, type ErrorForm } from '../../src/gateway/answer.js';
import {
  bodyTooLarge,
  isRefusal,
  limitReached,
  REFUSALS,
  upstreamTimeout,
  withHeaders,
  type Refusal,
} from '../../src/gateway/refusal.js';
import type { LimitedVerdict } from '../../src/gateway/admission/verdict.js';
import { DAY, MINUTE, STANDING } from './admission/verdict.js';
import { makeExchange } from './exchange.js';

const FORM: ErrorForm = { form: 'petgate', docs: '/docs' };
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

function field(headers: readonly string[], name: string): string | undefined {
  const index = headers.indexOf(name);
  return index === -1 ? undefined : headers[index + 1];
}

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
  const limited = renderRefusal(exchange, REFUSALS.rate_limited, FORM).headers;
  t.equal(field(limited, 'Retry-After'), '4');
  t.equal(field(limited, 'X-RateLimit-Reset'), '5');
  t.notOk(limited.includes('Connection'));
  t.notOk(
    renderRefusal(exchange, REFUSALS.not_found, FORM).headers.includes('Retry-After'),
    'where waiting does not help nobody is told to',
  );
  t.equal(field(renderRefusal(exchange, REFUSALS.overloaded, FORM).headers, 'Retry-After'), '1');
  t.equal(field(renderRefusal(exchange, REFUSALS.malformed_request, FORM).headers, 'Connection'), 'close');
  t.equal(
    field(renderRefusal(exchange, withHeaders(REFUSALS.method_not_allowed, 'Allow', 'GET'), FORM).headers, 'Allow'),
    'GET',
  );
  t.same(REFUSALS.method_not_allowed.headers, [], 'the catalogue itself stays as it was');
  t.end();
});

t.test('a refusal is sent, or cuts an answer that has begun', (t) => {
  const fresh = makeExchange();
  refuse(fresh.exchange, REFUSALS.not_found, FORM);
  t.match(fresh.written, { status: 404, body: REFUSALS.not_found.body, aborted: false });
  t.equal(fresh.exchange.logEntry.refusal, REFUSALS.not_found);
  const { exchange, written } = makeExchange();
  refuse({ ...exchange, client: { ...exchange.client, started: true } }, REFUSALS.upstream_failed, FORM);
  t.match(written, { status: 0, body: '', aborted: true }, 'nothing of an error goes into the middle of it');
  t.end();
});

t.test('a client that accepts problems gets one, and so does everyone where the settings say so', (t) => {
  const typeOf = (accept: string | null, form: ErrorForm['form'] = 'petgate'): string | undefined => {
    const { exchange } = makeExchange({
      headers: accept === null ? ['X', 'application/problem+json'] : ['accept', accept],
    });
    const { headers, body } = renderRefusal(exchange, REFUSALS.not_found, { form, docs: '/docs' });
    t.equal(field(headers, 'Content-Length'), String(body.length));
    t.equal(field(headers, 'Vary'), form !== 'problem' && body.includes('"instance"') ? 'Accept' : undefined);
    return field(headers, 'Content-Type');
  };
  for (const accept of [
    'application/problem+json',
    'application/json, Application/Problem+JSON;q=0.5',
    'application/problem+json; charset=utf-8, */*',
  ])
    t.equal(typeOf(accept), 'application/problem+json', accept);
  for (const accept of [
    null,
    '*/*',
    'application/json',
    'application/problem+jsonx',
    'x-application/problem+json',
    'application/problem+json;q=0',
    'application/problem+json; q=0.000, */*',
  ]) {
    t.equal(typeOf(accept), 'application/json', String(accept));
    t.equal(typeOf(accept, 'problem'), 'application/problem+json', `${accept}, by the settings`);
    t.equal(typeOf(accept, 'nested'), 'application/json', `${accept}, nested`);
  }
  t.end();
});

t.test('every problem says what the Error says, and which request it is', (t) => {
  const { exchange } = makeExchange({ id: 'a1._~+/=-' });
  const problemOf = (refusal: Refusal): unknown =>
    JSON.parse(renderRefusal(exchange, refusal, { form: 'problem', docs: '/docs' }).body);
  for (const [code, refusal] of Object.entries(REFUSALS)) {
    const { message: detail, status } = JSON.parse(refusal.body) as { message: string; status: number };
    t.match(problemOf(refusal), {
      type: `/docs#${code}`,
      title: /^[A-Z][a-z ]+$/,
      status,
      detail,
      code,
      instance: exchange.id,
    });
  }
  t.same(problemOf(limitReached('month')), {
    type: 'https://iana.org/assignments/http-problem-types#quota-exceeded',
    title: 'Request cannot be satisfied as assigned quota has been exceeded',
    status: 429,
    detail: (JSON.parse(limitReached('month').body) as { message: string }).message,
    code: 'rate_limited',
    'violated-policies': ['month'],
    instance: exchange.id,
  });
  t.end();
});

t.test('nested, a refusal is the member `error`, as the SDKs of OpenAI, Anthropic and Stripe read it', (t) => {
  const nestedOf = (refusal: Refusal): unknown => {
    const { exchange } = makeExchange();
    return JSON.parse(renderRefusal(exchange, refusal, { form: 'nested', docs: '/docs' }).body);
  };
  const types = new Map([
    ['missing_api_key', 'authentication_error'],
    ['insufficient_scope', 'permission_error'],
    ['not_found', 'not_found_error'],
    ['rate_limited', 'rate_limit_error'],
    ['key_banned', 'rate_limit_error'],
    ['unexpected_body', 'invalid_request_error'],
    ['upstream_failed', 'api_error'],
  ]);
  for (const [code, refusal] of Object.entries(REFUSALS)) {
    const { message } = JSON.parse(refusal.body) as { message: string };
    const type = types.get(code) ?? /_error$/;
    t.match(nestedOf(refusal), { error: { code, message, type, param: null } }, code);
  }
  t.match(nestedOf(limitReached('day')), { error: { message: /"day"/, type: 'rate_limit_error' } });
  t.end();
});

t.test('as XML, a refusal is what clients of S3 read', (t) => {
  const { exchange } = makeExchange({ id: 'r1' });
  const { headers, body } = renderRefusal(exchange, limitReached('<day>'), { form: 'xml', docs: '/docs' });
  t.equal(field(headers, 'Content-Type'), 'application/xml');
  t.equal(field(headers, 'Content-Length'), String(body.length));
  t.match(body, /^<\?xml [^>]*\?>\n<Error><Code>rate_limited<\/Code><Message>[^<>"]*&#60;day&#62;/);
  t.match(body, '<RequestId>r1</RequestId></Error>');
  t.end();
});

t.test('a refusal for a limit names the limit, and the setting where only the occurrence knows it', (t) => {
  const messageOf = ({ body }: Refusal): string => (JSON.parse(body) as { message: string }).message;
  t.match(messageOf(bodyTooLarge(10 * 2 ** 20)), /larger than the 10MiB that/);
  t.match(messageOf(bodyTooLarge(1000)), /larger than the 1000B that/);
  const refusal = upstreamTimeout({ ms: 60_000, name: 'deadline', setting: 'upstreams.default.deadline' });
  t.match(messageOf(refusal), /within 1m \(deadline\)/);
  t.match(refusal, { status: 504, setting: 'upstreams.default.deadline' });
  t.match(messageOf(upstreamTimeout({ ms: 1500, name: 'idle', setting: '' })), /within 1500ms \(idle\)/);
  t.end();
});
