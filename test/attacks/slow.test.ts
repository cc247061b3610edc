import type { Socket } from 'node:net';
import t from 'tap';
import type { Test } from 'tap';
import { checkHonest, codeOf } from '../answers/honest.js';
import { ownCertificate } from '../servers/certificate.js';
import { dial as connect, type Target } from '../servers/dial.js';
import type { GatewayOptions } from '../servers/gateway.js';
import { parseAnswers, type RawAnswer } from '../servers/raw.js';
import { startUpstream } from '../servers/upstream.js';
import { until } from '../servers/until.js';
import { request, startFront } from './front.js';

const LIMITS = { headers_time: '1s', request_time: '2s', keep_alive: '1s' };
const WAYS = ['plain HTTP', 'TLS'] as const;
const tlsFor = (t: Test, over: (typeof WAYS)[number]): GatewayOptions =>
  over === 'TLS' ? { tls: ownCertificate(t) } : {};
/** Node looks at its deadlines once a second. */
const LATE_MS = 20_000;

interface Line {
  readonly socket: Socket;
  /** Answers so far, and when the gateway closed, ms after the dial; 0 while open. */
  answers(): readonly RawAnswer[];
  closedMs: number;
}

function dial(t: Test, target: Target, bytes: string): Line {
  const socket = connect(target);
  t.teardown(() => socket.destroy());
  const dialledMs = performance.now();
  let text = '';
  const line: Line = { socket, answers: () => parseAnswers(text), closedMs: 0 };
  socket.setEncoding('latin1').on('data', (chunk: string) => (text += chunk));
  socket.on('error', () => undefined).on('close', () => (line.closedMs = performance.now() - dialledMs));
  if (bytes !== '') socket.write(bytes);
  return line;
}

/** Writes one byte after another, as slowly as it takes to look alive. */
function drip(line: Line, text: string): void {
  let at = 0;
  const timer = setInterval(() => {
    if (line.closedMs > 0 || line.socket.destroyed) clearInterval(timer);
    else line.socket.write(text[at++ % text.length]!);
  }, 50);
  line.socket.on('close', () => clearInterval(timer));
}

for (const over of WAYS) {
  const upstream = await startUpstream(t);
  const front = await startFront(t, upstream.url, { ...tlsFor(t, over), config: { limits: LIMITS } });

  /** The attack: slowloris. A header (or a body) that never ends, byte by byte, holds a connection for ever. */
  t.test(`a request that takes too long is a 408 in time, however alive it looks (${over})`, async (t) => {
    const header = dial(t, front.target, 'GET /v1/pets HTTP/1.1\r\nHost: x\r\n');
    drip(header, 'X-A: b\r\n');
    const body = dial(t, front.target, request('POST /v1/pets', front.key, 'Content-Length: 100000'));
    drip(body, 'x');
    const chunks = dial(t, front.target, request('POST /v1/pets', front.key, 'Transfer-Encoding: chunked'));
    drip(chunks, '1\r\nx\r\n');
    const extension = dial(t, front.target, `${request('POST /v1/pets', front.key, 'Transfer-Encoding: chunked')}1;`);
    drip(extension, 'x');
    const later = dial(t, front.target, request('GET /v1/pets', front.key));
    await until('the first request of a connection is answered', () => later.answers().length === 1);
    later.socket.write('GET /');
    drip(later, 'x');
    for (const [name, line, limitMs] of [
      ['header', header, 1000],
      ['body', body, 2000],
      ['chunks', chunks, 2000],
      ['extension', extension, 2000],
      ['second header', later, 1000],
    ] as const) {
      await until(`${name}: the gateway closes`, () => line.closedMs > 0);
      const answer = line.answers().at(-1)!;
      t.equal(answer.status, 408, `${name}: 408`);
      t.equal(codeOf(answer), 'request_timeout');
      checkHonest(t, answer, name);
      t.ok(
        line.closedMs > limitMs - 50 && line.closedMs < limitMs + LATE_MS,
        `${name}: closed after ${line.closedMs.toFixed(0)} ms`,
      );
    }
    t.equal(upstream.seen.length, 1, 'nothing of it went to the upstream');
    await front.idle();
  });

  /** The attack: connections that say nothing, by the thousand: each holds a descriptor. */
  t.test(`a connection that says nothing is closed, before its first request and between two (${over})`, async (t) => {
    const silent = Array.from({ length: 50 }, () => dial(t, front.target, ''));
    const idle = dial(t, front.target, request('GET /v1/pets', front.key));
    await until('all are closed', () => [...silent, idle].every(({ closedMs }) => closedMs > 0));
    t.equal(idle.answers()[0]?.status, 200);
    t.ok(silent.every(({ closedMs }) => closedMs < 1000 + LATE_MS));
    // A first request that crosses an answer would take it for its own.
    t.equal(silent.filter((line) => line.answers().length > 0).length, 0, 'without a word');
  });
}

/**
 * The attack (or the accident): a client sends all of a large body before it reads, and meets a reset instead of its
 * 413.
 */
for (const over of WAYS)
  t.test(`a client that sends 5 MB before it reads gets its 413 (${over})`, async (t) => {
    const upstream = await startUpstream(t);
    const front = await startFront(t, upstream.url, tlsFor(t, over));
    const size = 5 * 1024 * 1024;
    const chunk = `10000\r\n${'x'.repeat(65_536)}\r\n`;
    for (const [name, head, body] of [
      ['declared', request('POST /v1/pets', front.key, `Content-Length: ${size}`), 'x'.repeat(size)],
      [
        'chunked',
        request('POST /v1/pets', front.key, 'Transfer-Encoding: chunked'),
        `${chunk.repeat(size / 65_536)}0\r\n\r\n`,
      ],
      ['without a key', request('POST /v1/pets', `Content-Length: ${size}`), 'x'.repeat(size)],
      ['not HTTP', 'BLARG\r\n\r\n', 'x'.repeat(size)],
    ] as const) {
      const socket = connect(front.target);
      t.teardown(() => socket.destroy());
      let failed = '';
      let text = '';
      socket.pause().on('error', (error: NodeJS.ErrnoException) => (failed = error.code ?? 'error'));
      await new Promise<void>((resolve) => socket.write(head + body, () => resolve()));
      const ended = new Promise<void>((resolve) => socket.once('close', () => resolve()));
      socket
        .setEncoding('latin1')
        .on('data', (part: string) => (text += part))
        .resume();
      await ended;
      const [answer] = parseAnswers(text);
      t.equal(failed, '', `${name}: no reset`);
      t.equal(answer?.status, { 'without a key': 401, 'not HTTP': 400 }[name as string] ?? 413, name);
      if (answer !== undefined) checkHonest(t, answer, name);
    }
    t.equal(upstream.seen.length, 0);
    await front.idle();
  });

/** The attack: "Expect" and a body that never comes, so that the next request is taken for it. */
t.test('who is refused before 100 Continue cannot go on with the connection', async (t) => {
  const upstream = await startUpstream(t);
  const front = await startFront(t, upstream.url);
  const line = dial(t, front.target, request('POST /v1/pets', 'Expect: 100-continue', 'Content-Length: 5'));
  await until('it is refused', () => line.answers().length === 1);
  t.equal(line.answers()[0]?.status, 401);
  t.equal(line.answers()[0]?.headers.get('connection'), 'close');
  const allowed = dial(
    t,
    front.target,
    request('POST /v1/pets', front.key, 'Expect: 100-continue', 'Content-Length: 2'),
  );
  let interim = '';
  allowed.socket.on('data', (chunk: string) => (interim += chunk));
  await until('it may go on', () => interim.startsWith('HTTP/1.1 100 Continue\r\n\r\n'));
  t.equal(upstream.seen.length, 0);
  allowed.socket.write('{}');
  await until('it is served', () => allowed.answers().at(-1)?.status === 200);
  t.equal(upstream.seen[0]?.body, '{}');
});
