import t from 'tap';
import type { StandingVerdict } from '../../../../src/gateway/admission/verdict.js';
import { REFUSALS } from '../../../../src/gateway/refusal.js';
import { ADMITTED, DAY, MINUTE } from '../../admission/verdict.js';
import { AccessLine } from '../../../../src/gateway/observe/log/access-line.js';
import { until } from '../../../servers/until.js';
import { makeExchange } from '../../exchange.js';

t.test('a line that is written later says how the exchange stood when it ended', async (t) => {
  const made = makeExchange({}).exchange;
  const client = { ...made.client, bytesOut: 10 };
  const before = Date.now();
  const line = new AccessLine({ ...made, client }, 200, 1.5, '');
  const after = Date.now();
  await until('the clock has moved', () => Date.now() > after);
  client.bytesOut = 1000;
  const { time, bytes, status, ms, msg } = JSON.parse(String(line)) as Readonly<Record<string, unknown>>;
  t.ok(Date.parse(String(time)) >= before && Date.parse(String(time)) <= after, 'its time is that of the end');
  t.equal(bytes, 10);
  t.strictSame({ status, ms, msg }, { status: 200, ms: 1.5, msg: 'exchange' });
});

t.test('it is one line without a credential, whatever it is asked', (t) => {
  const { exchange } = makeExchange({ authorization: 'Bearer a-secret' });
  const text = String(new AccessLine(exchange, 499, 0, ',"sampled":0.5'));
  t.match(text, /^\{[^\n]*\}\n$/);
  t.notMatch(text, /a-secret/);
  t.equal((JSON.parse(text) as { sampled: number }).sampled, 0.5);
  t.end();
});

t.test('a refusal says when it was decided, of whom, at what cost, and what was left of each window', (t) => {
  const { exchange } = makeExchange({});
  const verdict: StandingVerdict = {
    ...ADMITTED,
    ...{ outcome: 'banned', keyId: 'AbCdEfGh123456', atMs: 5_000, cost: 3 },
    ...{ bannedUntilMs: 65_000, level: 2, started: true, retryAtMs: 65_000, local: true },
    windows: [
      { ...MINUTE, limit: 60, remaining: 2, resetAtMs: 9_000, granted: { units: 10, untilMs: 7_000 } },
      { ...DAY, limit: 'unlimited', remaining: Number.MAX_SAFE_INTEGER, resetAtMs: 86_400_000 },
      { name: 'get "\u00e9"-day', per: 'day', limit: 5, remaining: 0, resetAtMs: 86_400_000 },
    ],
  };
  Object.assign(exchange.logEntry, { verdict, contractCost: 1, refusal: REFUSALS.key_banned });
  t.match(JSON.parse(String(new AccessLine(exchange, 429, 1, ''))), {
    ...{ key: 'AbCdEfGh123456', customer: 'AbCdEfGh', outcome: 'banned', code: 'key_banned', counted: false },
    ...{ decidedAt: '1970-01-01T00:00:05.000Z', admittedAt: null, cost: 3, contractCost: 1, units: 0 },
    windows: {
      minute: [60, 2, 4_000, 10, 2_000],
      day: [null, null, 86_395_000],
      'get "\u00e9"-day': [5, 0, 86_395_000],
    },
    ...{ ban: { ms: 60_000, level: 2, started: true }, local: true },
  });
  const windows = Array.from({ length: 3_000 }, (_, n) => ({
    ...DAY,
    name: `w${n}`,
    limit: 1,
    remaining: 1,
    resetAtMs: 0,
  }));
  exchange.logEntry.verdict = { ...ADMITTED, windows };
  t.ok(
    String(new AccessLine(exchange, 200, 1, '')).length < 1_500,
    'a look at thousands of windows makes no long line',
  );
  t.end();
});
