import type { Socket } from 'node:net';
import { connect } from 'node:net';
import { connect as connectTls } from 'node:tls';
import t from 'tap';
import type { Test } from 'tap';
import { checkHonest, codeOf } from '../answers/honest.js';
import { ownCertificate } from '../servers/certificate.js';
import type { Target } from '../servers/dial.js';
import { parseAnswers, type RawAnswer, statusesOf } from '../servers/raw.js';
import { startUpstream } from '../servers/upstream.js';
import { until } from '../servers/until.js';
import { metricOf, request, startFront } from './front.js';

interface HalfClosed {
  readonly socket: Socket;
  readonly answers: () => readonly RawAnswer[];
  readonly closed: () => boolean;
}

/** Sends `bytes` and FIN, and reads on. */
function halfClose(t: Test, target: Target, bytes: string): HalfClosed {
  const options = { host: '127.0.0.1', servername: 'localhost', allowHalfOpen: true };
  const socket =
    typeof target === 'number' ? connect({ port: target, ...options }) : connectTls({ ...options, ...target });
  t.teardown(() => socket.destroy());
  let text = '';
  let closed = false;
  socket.setEncoding('latin1').on('data', (chunk: string) => (text += chunk));
  // The gateway has said all that it had to say.
  socket.on('error', () => undefined).on('end', () => (closed = true));
  socket.on('close', () => (closed = true));
  socket.end(bytes);
  return { socket, answers: () => parseAnswers(text), closed: () => closed };
}

for (const over of ['plain HTTP', 'TLS']) {
  const upstream = await startUpstream(t);
  const front = await startFront(t, upstream.url, over === 'TLS' ? { tls: ownCertificate(t) } : {});

  /** No attack: `nc -N`, health checkers and old clients send FIN behind their last request (RFC 9112 §9.6). */
  t.test(`who sends FIN after whole requests gets their responses (${over})`, async (t) => {
    upstream.handle = (_seen, response) => setImmediate(() => response.end('[1]'));
    const get = request('GET /v1/pets', front.key);
    const post = `${request('POST /v1/pets', front.key, 'Content-Length: 2')}{}`;
    const chunks = `${request('POST /v1/pets', front.key, 'Transfer-Encoding: chunked')}2\r\n{}\r\n0\r\n\r\n`;
    const long = `${request('POST /v1/pets', front.key, 'Content-Length: 200000')}${'x'.repeat(200_000)}`;
    for (const [name, bytes, statuses] of [
      ['GET', get, [200]],
      ['POST', post, [200]],
      ['chunks', chunks, [200]],
      ['a body that streams', long, [200]],
      ['HTTP/1.0', get.replace('HTTP/1.1', 'HTTP/1.0'), [200]],
      ['three in a row', get + post + get, [200, 200, 200]],
      ['twenty in a row', get.repeat(20), Array<number>(20).fill(200)],
      ['without a key', request('GET /v1/pets'), [401]],
      ['no such path', request('GET /nothing', front.key), [404]],
      ['not HTTP', 'BLARG\r\n\r\n', [400]],
      ['CONNECT', request('CONNECT x:443', front.key), [400]],
      ['Upgrade: h2c', request('GET /v1/pets', front.key, 'Connection: Upgrade', 'Upgrade: h2c'), [200]],
      ['half a head', 'GET /v1/pets HTTP/1.1\r\nHost: x\r\n', [400]],
      ['half a body', `${request('POST /v1/pets', front.key, 'Content-Length: 9')}{`, [400]],
      ['half a chunk', `${request('POST /v1/pets', front.key, 'Transfer-Encoding: chunked')}9\r\n{`, [400]],
      ['half a body that streams', long.slice(0, -9), [400]],
      [
        'a body that waits for 100',
        request('POST /v1/pets', front.key, 'Content-Length: 9', 'Expect: 100-continue'),
        [400],
      ],
      ['a request and half of one', get + get.slice(0, -9), [200]],
      ['no byte', '', []],
    ] as const) {
      const client = halfClose(t, front.target, bytes);
      await until(`${name}: the connection ends`, client.closed);
      const answers = client.answers();
      t.same(statusesOf(answers), statuses, name);
      for (const answer of answers) checkHonest(t, answer, name);
      if (statuses.at(-1) === 400) t.equal(codeOf(answers.at(-1)!), 'malformed_request', name);
    }
    await front.idle();
    t.equal(await metricOf(front.gateway, 'petgate_connections'), 0, 'no connection stays');
  });

  /** The attack: FIN is all that shows of a client that is gone. */
  t.test(`a half-closed client holds an exchange for 5 s without progress, and no longer (${over})`, async (t) => {
    let left = 0;
    let more: NodeJS.Timeout | undefined;
    t.teardown(() => clearInterval(more));
    upstream.handle = ({ url }, response) => {
      response.on('close', () => (left += 1));
      if (!url.includes('stream')) return;
      response.writeHead(200, { 'content-type': 'text/event-stream' });
      more = setInterval(() => response.write('data: 1\n\n'), 1000);
    };
    const startedMs = performance.now();
    const stream = halfClose(t, front.target, request('GET /v1/pets?stream', front.key));
    const silent = halfClose(t, front.target, request('GET /v1/pets?hang', front.key));
    await until('the silent one is cut', silent.closed);
    t.ok(performance.now() - startedMs > 4_900, 'after 5 s');
    await until('and its request to the upstream', () => left === 1);
    await until('the stream has lasted longer', () => performance.now() - startedMs > 7_000);
    t.notOk(stream.closed(), 'what makes progress goes on');
    clearInterval(more);
    await until('a stream that is silent is cut too', stream.closed);
    await until('and its request to the upstream', () => left === 2);
    await front.idle();
  });
}
