import { once } from 'node:events';
import { get as getPlain, type IncomingMessage, type ServerResponse } from 'node:http';
import { connect as connectHttp2 } from 'node:http2';
import { get as getTls } from 'node:https';
import type { Readable } from 'node:stream';
import { setImmediate as nextTurn } from 'node:timers/promises';
import t from 'tap';
import type { Test } from 'tap';
import { ownCertificate } from '../servers/certificate.js';
import { startUpstream } from '../servers/upstream.js';
import { startFront, type Front } from './front.js';

const CLIENTS = 12;
const ANSWERS = 20;
/** Clients that read nothing before all others had their answers, which are longer than what systems take for them. */
const STALLED = 4;
const STALLED_BYTES = 2 ** 24;
const LENGTHS = [1_000, 16_384, 20_000, 65_400, 65_536, 300_000, 1_048_576];
/** How clients take an answer: at once, a piece each turn of their loop, or only half of it. */
const MANNERS = ['quick', 'slow', 'leaves'] as const;

/** Tells answers apart in each word, and the words of one. */
const wordOf = (seed: number, index: number): number => seed * 2 ** 22 + index;

function bodyOf(seed: number, length: number): Buffer {
  return Buffer.from(new Uint32Array(length / 4).map((_, index) => wordOf(seed, index)).buffer);
}

/** In one piece with its length, or in chunks of an odd size. */
function answer(url: string, response: ServerResponse): void {
  const query = new URLSearchParams(url.slice(url.indexOf('?')));
  const [seed, length] = [Number(query.get('seed')), Number(query.get('length'))];
  const body = bodyOf(seed, length);
  if (seed % 3 !== 0) {
    response.writeHead(200, { 'content-type': 'application/octet-stream', 'content-length': body.length }).end(body);
    return;
  }
  response.writeHead(200, { 'content-type': 'application/octet-stream' });
  for (let at = 0; at < body.length; at += 30_001) response.write(body.subarray(at, at + 30_001));
  response.end();
}

/** Takes an answer and gives it, or as much of it as was wanted. */
async function take(stream: Readable, length: number, manner: (typeof MANNERS)[number]): Promise<Buffer> {
  const pieces: Buffer[] = [];
  let bytes = 0;
  for await (const piece of stream as AsyncIterable<Buffer>) {
    pieces.push(piece);
    bytes += piece.length;
    if (manner === 'leaves' && bytes >= length / 2) break;
    if (manner === 'slow') await nextTurn();
  }
  return Buffer.concat(pieces);
}

/** Gives the body of the answer to a request, as a stream. */
type Ask = (path: string) => Promise<Readable>;

/**
 * All at once, each client its answers one after the other; none may hold a byte of another's, or of itself elsewhere.
 */
async function checkUnmixed(t: Test, ask: Ask): Promise<void> {
  const client = async (which: number): Promise<void> => {
    for (let n = 0; n < ANSWERS; n += 1) {
      const seed = which * ANSWERS + n;
      const length = LENGTHS[(seed * 7) % LENGTHS.length]!;
      const manner = MANNERS[(which + n) % MANNERS.length]!;
      const got = await take(await ask(`/v1/pets?seed=${seed}&length=${length}`), length, manner);
      const expected = bodyOf(seed, length).subarray(0, manner === 'leaves' ? got.length : length);
      t.ok(got.equals(expected), `answer ${seed}, ${length} bytes, ${manner}`);
    }
  };
  const stalled: { readonly seed: number; readonly length: number; readonly stream: Readable }[] = [];
  for (let n = 0; n < STALLED; n += 1) {
    const [seed, length] = [CLIENTS * ANSWERS + n, STALLED_BYTES];
    stalled.push({ seed, length, stream: await ask(`/v1/pets?seed=${seed}&length=${length}`) });
  }
  await Promise.all(Array.from({ length: CLIENTS }, (_, which) => client(which)));
  for (const { seed, length, stream } of stalled)
    t.ok(
      (await take(stream, length, 'quick')).equals(bodyOf(seed, length)),
      `answer ${seed}, ${length} bytes, taken late`,
    );
}

const overHttp1 =
  (get: typeof getPlain | typeof getTls, url: string, { key }: Front): Ask =>
  async (path) => {
    const sent = get(`${url}${path}`, {
      headers: { authorization: key.slice('Authorization: '.length) },
      rejectUnauthorized: false,
    });
    const [response] = (await once(sent, 'response')) as [IncomingMessage];
    return response;
  };

t.test('long answers of many clients at once never mix, whoever is slow or leaves', async (t) => {
  const upstream = await startUpstream(t);
  upstream.handle = ({ url }, response) => answer(url, response);
  const front = await startFront(t, upstream.url, { pets: { deadline: '2m' } });
  await checkUnmixed(t, overHttp1(getPlain, `http://127.0.0.1:${front.port}`, front));
});

t.test('nor over TLS and HTTP/2', async (t) => {
  const upstream = await startUpstream(t);
  upstream.handle = ({ url }, response) => answer(url, response);
  const front = await startFront(t, upstream.url, {
    pets: { deadline: '2m' },
    tls: ownCertificate(t),
  });
  const url = `https://127.0.0.1:${front.port}`;
  await checkUnmixed(t, overHttp1(getTls, url, front));
  const session = connectHttp2(url, { rejectUnauthorized: false });
  t.teardown(() => session.destroy());
  await checkUnmixed(t, (path) =>
    Promise.resolve(session.request({ ':path': path, authorization: front.key.slice('Authorization: '.length) })),
  );
});
