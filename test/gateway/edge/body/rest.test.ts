import { PassThrough } from 'node:stream';
import { setImmediate as nextTurn } from 'node:timers/promises';
import t from 'tap';
import { gatherBody, LONG_BYTES } from '../../../../src/gateway/edge/body/gather.js';
import { Pieces } from '../../../../src/gateway/edge/body/pieces.js';
import { ArrivingRest } from '../../../../src/gateway/edge/body/rest.js';
import { REFUSALS } from '../../../../src/gateway/refusal.js';
import { until } from '../../../servers/until.js';

t.test('pieces become one block, in their order', (t) => {
  const pieces = new Pieces();
  t.equal(pieces.whole().length, 0);
  for (let n = 0; n < 1000; n += 1) pieces.add(Buffer.from(String(n % 10)));
  t.equal(pieces.bytes, 1000);
  t.equal(pieces.whole().toString(), '0123456789'.repeat(100));
  t.end();
});

/** What is said of a body of which these pieces come. */
async function gathered(pieces: readonly number[], declared: number | null, maxBytes = 1e9, isWhole = true) {
  const source = new PassThrough({ highWaterMark: 1e9 });
  const said: (readonly [what: string, bytes: number])[] = [];
  gatherBody(source, declared, {
    maxBytes,
    isWhole: () => isWhole,
    onWhole: (body) => said.push(['whole', body.length]),
    onLong: (beginning) => said.push(['long', beginning.length]),
    onRefused: (refusal) => said.push([refusal.code, 0]),
  });
  for (const bytes of pieces) {
    source.write(Buffer.alloc(bytes));
    await nextTurn();
  }
  source.end();
  await nextTurn();
  await nextTurn();
  return said;
}

t.test('short bodies are gathered whole, long ones as far as it takes to know that', async (t) => {
  t.same(await gathered([10, 20], null), [['whole', 30]]);
  t.same(await gathered([], null), [['whole', 0]]);
  t.same(await gathered([LONG_BYTES], LONG_BYTES), [['whole', LONG_BYTES]]);
  t.same(await gathered([LONG_BYTES, 1, 5], null), [['long', LONG_BYTES + 1]]);
  t.same(await gathered([7, LONG_BYTES], LONG_BYTES + 7), [['long', 7]], 'known to be long: with its first piece');
  t.same(await gathered([10, 20], null, 29), [['body_too_large', 0]]);
  t.same(await gathered([10, 20], null, 1e9, false), [], 'one that broke off is none');
});

function rest(maxBytes = 1000, idleMs = 60_000) {
  const source = new PassThrough({ highWaterMark: 1 });
  let isWhole = true;
  const body = new ArrivingRest(source, 10, { length: null, maxBytes, idleMs, isWhole: () => isWhole });
  const said: string[] = [];
  body.watch({ onMoved: () => said.push('moved'), onBroken: ({ code }) => said.push(code) });
  body.onOver(() => said.push('over'));
  const sink = {
    take: (piece: Buffer) => said.push(`${piece.length}`),
    end: () => said.push('end'),
  };
  return { source, body, said, sink, breakOff: () => (isWhole = false) };
}

t.test('a long body that came whole before anybody took it ends', async (t) => {
  const { source, body, said, sink } = rest();
  gatherBody(source, null, {
    ...{ maxBytes: 1e9, isWhole: () => true },
    ...{ onWhole: () => said.push('whole'), onLong: () => said.push('long'), onRefused: () => said.push('refused') },
  });
  source.end(Buffer.alloc(LONG_BYTES + 1));
  await until('it has ended', () => source.readableEnded);
  body.readInto(sink);
  await until('that is said', () => said.includes('end'));
  t.same(said, ['long', 'over', 'end']);
});

t.test('nothing is read before it is taken, nor while that waits', async (t) => {
  const { source, body, said, sink } = rest();
  source.write(Buffer.alloc(5));
  await nextTurn();
  t.same([said, body.bytes, body.awaitsClient], [[], 10, false]);
  body.readInto(sink);
  await until('it is taken', () => said.length === 1);
  t.same([said, body.bytes, body.awaitsClient], [['5'], 15, true]);
  body.pause();
  body.pause();
  source.end(Buffer.alloc(6));
  await nextTurn();
  t.same([said, body.awaitsClient], [['5', 'moved'], false]);
  body.resume();
  await until('it ended', () => said.includes('end'));
  t.same(said, ['5', 'moved', 'moved', '6', 'over', 'end']);
  body.stop();
  body.break(REFUSALS.request_timeout);
  t.equal(said.length, 6, 'once');
});

t.test('one that grows too large, falls silent or breaks off never ends', async (t) => {
  const large = rest(20);
  large.body.readInto(large.sink);
  large.source.end(Buffer.alloc(11));
  await until('it is over', () => large.said.length === 2);
  t.same(large.said, ['over', 'body_too_large']);

  const silent = rest(1e6, 20);
  silent.body.readInto(silent.sink);
  const dripping = setInterval(() => silent.source.write('x'), 2);
  t.teardown(() => clearInterval(dripping));
  await until('it is over', () => silent.said.includes('request_timeout'));
  t.same(silent.said.slice(-2), ['over', 'request_timeout'], 'a byte now and then is silence');

  const reset = rest();
  reset.body.readInto(reset.sink);
  reset.breakOff();
  reset.source.end();
  await until('it is over', () => reset.said.length > 0);
  t.same(reset.said, ['over']);

  const early = rest();
  early.body.break(REFUSALS.malformed_request);
  const heard: string[] = [];
  early.body.watch({ onMoved: () => undefined, onBroken: ({ code }) => heard.push(code) });
  early.body.onOver(() => heard.push('over'));
  early.body.readInto(early.sink);
  t.same(heard, ['malformed_request', 'over'], 'who comes later hears of it');
});

t.test('a client is not silent while nobody listens', async (t) => {
  const { body, said, sink, source } = rest(1e6, 20);
  body.readInto(sink);
  body.pause();
  let turns = 0;
  await until('it would have been silent', () => (turns += 1) > 10);
  t.same(said, ['moved']);
  body.resume();
  source.end('x');
  await until('it ends', () => said.includes('end') || said.includes('request_timeout'));
  t.ok(said.includes('end'));
});
