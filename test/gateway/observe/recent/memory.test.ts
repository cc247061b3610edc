import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import t from 'tap';
import { RecentExchanges } from '../../../../src/gateway/observe/recent/memory.js';
import { exchangeView } from '../../../../src/gateway/observe/recent/view.js';
import { limitReached, REFUSALS } from '../../../../src/gateway/refusal.js';
import type { StandingVerdict } from '../../../../src/gateway/admission/verdict.js';
import { createAddressReader, bucketOf } from '../../../../src/gateway/edge/client-address.js';
import { nextTraceparent } from '../../../../src/gateway/edge/trace.js';
import type { Exchange } from '../../../../src/gateway/exchange.js';
import { ADMITTED, DAY, MINUTE } from '../../admission/verdict.js';
import { makeExchange } from '../../exchange.js';

function ended(id: string, keyId: string | null, fields: Partial<Exchange> = {}): Exchange {
  const made = makeExchange({ id, authorization: 'Bearer a-secret', query: '?key=a-secret', ...fields }).exchange;
  return { ...made, logEntry: { ...made.logEntry, operation: 'listPets', verdict: { ...ADMITTED, keyId } } };
}

function refuse(recent: RecentExchanges, id: string, keyId: string | null, address = '192.0.2.1'): void {
  recent.note(ended(id, keyId, { address, addressBucket: address }), 429, 1, true);
}

const idsOf = (recent: RecentExchanges, key: string): readonly string[] =>
  recent.answer({ key }).exchanges.map(({ id }) => id);

t.test('whoever hammers pushes out no refusal but own ones, of which the last fifty stay', (t) => {
  const recent = new RecentExchanges();
  refuse(recent, 'quiet', 'k1');
  for (let n = 0; n < 30_000; n += 1) refuse(recent, `loud-${n}`, 'k2');
  t.strictSame(idsOf(recent, 'k1'), ['quiet']);
  const loud = idsOf(recent, 'k2');
  t.strictSame([...loud].sort(), Array.from({ length: 50 }, (_, n) => `loud-${29_950 + n}`).sort());
  t.equal(recent.answer({ request: 'loud-0' }).exchanges.length, 0);
  t.end();
});

t.test('of many callers the last 20,000 are remembered, those that come again longest, keys before addresses', (t) => {
  const recent = new RecentExchanges();
  refuse(recent, 'of a key', 'k1');
  for (let n = 0; n < 30_000; n += 1) {
    refuse(recent, `a${n}`, null, `address-${n}`);
    if (n % 1_000 === 0) refuse(recent, `faithful-${n}`, null, 'faithful');
  }
  t.strictSame(idsOf(recent, 'k1'), ['of a key'], 'a flood of addresses does not touch keys');
  const isRemembered = (n: number): boolean => recent.answer({ request: `a${n}` }).exchanges.length === 1;
  for (const n of [0, 5_000, 9_900]) t.notOk(isRemembered(n), `address ${n}`);
  for (const n of [10_100, 15_000, 29_999]) t.ok(isRemembered(n), `address ${n}`);
  t.equal(recent.answer({ request: 'faithful-0' }).exchanges.length, 1, 'who came again is still known');
  t.end();
});

t.test('of the others the last thousand, the first hundred of a second; none pushes out a refusal', (t) => {
  let nowMs = 0;
  const recent = new RecentExchanges(() => nowMs);
  refuse(recent, 'refused', 'k1');
  for (let n = 0; n < 2_500; n += 1) {
    nowMs = Math.floor(n / 100) * 1000;
    recent.note(ended(`fine-${n}`, 'k1'), 200, 1, false);
  }
  recent.note(ended('too many', 'k1'), 200, 1, false);
  refuse(recent, 'refused too', 'k1');
  for (const [id, count] of [
    ['refused', 1],
    ['refused too', 1],
    ['too many', 0],
    ['fine-1499', 0],
    ['fine-1500', 1],
    ['fine-2499', 1],
  ] as const)
    t.equal(recent.answer({ request: id }).exchanges.length, count, id);
  t.strictSame(
    [...idsOf(recent, 'k1')].sort(),
    ['refused', 'refused too'],
    "a key's list holds what was refused or failed alone",
  );
  t.end();
});

t.test('an id that a client gives to all its requests finds the last fifty', (t) => {
  const recent = new RecentExchanges();
  for (const key of ['k1', 'k2']) for (let n = 0; n < 40; n += 1) refuse(recent, 'mine', key);
  recent.note(ended('mine', 'k3'), 200, 1, false);
  t.equal(recent.answer({ request: 'mine' }).exchanges.length, 50);
  t.end();
});

t.test('what is shown has the figures of the decision, and nothing that could be a key', (t) => {
  const recent = new RecentExchanges();
  const exchange = ended('id-1', 'k1');
  const verdict: StandingVerdict = {
    ...ADMITTED,
    ...{ outcome: 'limited', keyId: 'AbCdEfGh123456', atMs: 1_000, cost: 3, violated: 'minute' },
    ...{ retryAtMs: 61_000, exceeds: false },
    windows: [
      { ...MINUTE, limit: 60, remaining: 2, resetAtMs: 61_000 },
      { ...DAY, limit: 'unlimited', remaining: Number.MAX_SAFE_INTEGER, resetAtMs: 86_400_000 },
    ],
  };
  Object.assign(exchange.logEntry, { verdict, refusal: limitReached('minute') });
  recent.note(exchange, 429, 1.5, true);
  const [found] = recent.answer({ request: 'id-1' }).exchanges;
  const view = exchangeView(found!);
  t.match(view, {
    ...{ request: 'id-1', key: 'AbCdEfGh123456', customer: 'AbCdEfGh', plan: 'free', outcome: 'limited', status: 429 },
    ...{ code: 'rate_limited', violated: 'minute', ban: null, decided: '1970-01-01T00:00:01.000Z', cost: 3 },
    ...{ retryAt: '1970-01-01T00:01:01.000Z', message: /"minute"/, counted: false },
    windows: [
      { window: 'minute', limit: 60, remaining: 2, reset: '1970-01-01T00:01:01.000Z' },
      { window: 'day', limit: 'unlimited', remaining: null, reset: '1970-01-02T00:00:00.000Z' },
    ],
  });
  t.notMatch(JSON.stringify([found, view]), 'a-secret');
  t.end();
});

t.test('the memory is bounded in bytes, whatever clients send', (t) => {
  setFlagsFromString('--expose-gc');
  const collect = runInNewContext('gc') as () => void;
  const used = (): number => {
    collect();
    return process.memoryUsage().heapUsed;
  };
  const reader = createAddressReader(['127.0.0.1']);
  const windows = Array.from({ length: 40 }, (_, n) => ({
    ...MINUTE,
    name: `w${n}`,
    limit: n,
    remaining: n,
    resetAtMs: n,
  }));
  const recent = new RecentExchanges();
  const before = used();
  for (let n = 0; n < 22_000; n += 1) {
    const junk = Buffer.alloc(4_000, 'x').toString();
    const address = reader.read('127.0.0.1', `${junk}, 198.51.${100 + Math.floor(n / 250)}.${n % 250}`);
    const { traceparent } = nextTraceparent(`01-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-00-${junk}${n}`);
    const exchange = ended(`${'i'.repeat(120)}${n}`, `k${n}`, {
      address,
      addressBucket: bucketOf(address),
      traceparent,
    });
    const verdict = { ...ADMITTED, keyId: `k${n}`, windows: windows.map((window) => ({ ...window })) };
    Object.assign(exchange.logEntry, { verdict, refusal: REFUSALS.key_banned });
    recent.note(exchange, 429, 1.5, true);
    if (n < 2_000) recent.note(exchange, 200, 1.5, false);
  }
  const bytes = used() - before;
  t.equal(recent.answer({ key: 'k21999' }).exchanges.length, 1);
  t.ok(bytes < 60_000_000, `${bytes} bytes`);
  t.end();
});
