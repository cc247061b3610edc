import t from 'tap';
import { connect } from 'node:net';
import type { Test } from 'tap';
import { request, startFront, type Front } from '../../../attacks/front.js';
import { AnswerReader, type RawAnswer } from '../../../servers/answer-reader.js';
import { startUpstream, type Upstream } from '../../../servers/upstream.js';
import { until } from '../../../servers/until.js';

const H2C = ['Connection: Upgrade, HTTP2-Settings', 'Upgrade: h2c', 'HTTP2-Settings: AAMAAABk'];
let upstream: Upstream;
let front: Front;

t.before(async () => {
  upstream = await startUpstream(t);
  front = await startFront(t, upstream.url);
});

/** One connection on which each write waits for what the one before leads to. */
function talk(t: Test) {
  const socket = connect(front.port, '127.0.0.1');
  const reader = new AnswerReader();
  let closed = false;
  socket.setNoDelay(true).setEncoding('latin1');
  socket.on('data', (piece: string) => reader.add(piece)).on('error', () => undefined);
  socket.on('close', () => (closed = true));
  t.teardown(() => socket.destroy());
  return {
    write: (text: string): void => void socket.write(text, 'latin1'),
    answer: async (count: number): Promise<RawAnswer> => {
      await until(`answer ${count}`, () => reader.answers.length >= count || closed);
      const answer = reader.answers[count - 1];
      if (answer === undefined) throw new Error(`there is no answer ${count}`);
      return answer;
    },
    closed: () => until('the connection is closed', () => closed),
    count: () => reader.answers.length,
  };
}

t.test('a client that offers h2c with every request keeps its connection', async (t) => {
  const { write, answer } = talk(t);
  const body = '{"name":"Rex","categoryId":1}';
  const fields = [front.key, ...H2C];
  const post = request('POST /v1/pets', ...fields, 'Content-Type: application/json', `Content-Length: ${body.length}`);
  let count = 0;
  const next = async (...pieces: readonly string[]): Promise<void> => {
    const taken = upstream.seen.length;
    for (const piece of pieces) write(piece);
    const { status, headers } = await answer((count += 1));
    t.same([status, headers.get('connection')], [200, 'keep-alive'], `request ${count}`);
    t.equal(upstream.seen.length, taken + 1);
    t.equal(upstream.seen.at(-1)?.headers.upgrade, undefined, 'which no upstream hears of');
  };
  await next(request('GET /v1/pets', ...fields));
  await next(request('GET /v1/pets', ...fields));
  await next(post + body);
  await next(request('GET /v1/pets', front.key));
  write(post);
  await until('its body is waited for', async () => (await front.inFlight()) === 1);
  await next(body);
  await next(request('GET /v1/pets', ...fields, 'Content-Length: 0'));
});

t.test('where more came in the same read, which the parser drops, the connection ends and says so', async (t) => {
  const ignored = request('GET /v1/pets', front.key, ...H2C);
  const post = request('POST /v1/pets', front.key, ...H2C, 'Content-Length: 10');
  const hidden = request('GET /v1/pets?hidden', front.key);
  const chunked = request('POST /v1/pets', front.key, ...H2C, 'Transfer-Encoding: chunked');
  for (const [name, pieces] of Object.entries({
    'another request': [ignored + hidden],
    'a part of one': [`${ignored}GET /v1`],
    'a blank line': [`${ignored}\r\n`],
    'a request behind its body': [`${post}0123456789${hidden}`],
    'a body in chunks': [`${chunked}1\r\nx\r\n0\r\n\r\n`],
  })) {
    const { write, answer, closed, count } = talk(t);
    for (const piece of pieces) write(piece);
    t.equal((await answer(1)).headers.get('connection'), 'close', name);
    await closed();
    t.equal(count(), 1);
  }
  const { write, answer, closed } = talk(t);
  write(`${post}01234`);
  await until('its body is waited for', async () => (await front.inFlight()) === 1);
  write(`56789${hidden}`);
  t.equal((await answer(1)).headers.get('connection'), 'close', 'behind the rest of its body');
  await closed();
  t.notOk(upstream.seen.some(({ url }) => url.includes('hidden')));
});
