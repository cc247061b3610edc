import { connect } from 'node:net';
import fc from 'fast-check';
import t from 'tap';
import { checkHonest } from '../answers/honest.js';
import { INTERNAL_TOKEN } from '../servers/gateway.js';
import { parseAnswers, type RawAnswer } from '../servers/raw.js';
import { startUpstream } from '../servers/upstream.js';
import { foreignSettings, isOffered } from './foreign.js';
import { startFront } from './front.js';

const RUNS = 1500;
const AT_ONCE = 250;
/** Short enough that the gateway itself ends every connection soon, whatever came on it. */
const LIMITS = { headers_time: '1s', request_time: '1s', keep_alive: '100ms' };
const NEVER_MS = 20_000;

/** What may stand where in a message: the usual mostly, the odd now and then. */
const mostly = (usual: readonly string[], odd: readonly string[]): fc.Arbitrary<string> =>
  fc.oneof({ weight: 9, arbitrary: fc.constantFrom(...usual) }, { weight: 1, arbitrary: fc.constantFrom(...odd) });
/** What is attacked: our own API, and one whose document is somebody else's. */
interface Api {
  readonly name: string;
  readonly paths: readonly string[];
  readonly foreign: boolean;
  /** Method and path of what may be forwarded. */
  readonly offers: (method: string, path: string) => boolean;
}
const APIS: readonly Api[] = [
  {
    name: 'the animal store',
    paths: ['/v1/pets', '/v1/pets/1', '/v1/pets?limit=1', '/v1/x/%2e%2e/pets', '/openapi.json', '/v1/cats'],
    foreign: false,
    offers: (method, path) => ['GET', 'HEAD', 'POST'].includes(method) && /^\/v1\/pets[!-~]*$/.test(path),
  },
  {
    name: 'a foreign API',
    paths: [
      '/users',
      '/users/1',
      '/users/bob',
      '/reports',
      '/x/%2e%2e/users?q',
      '/admin/1',
      '/bob:verify',
      '/versions/v1',
    ],
    foreign: true,
    offers: isOffered,
  },
];
const lineOf = ({ paths }: Api): fc.Arbitrary<string> =>
  fc
    .tuple(
      mostly(['GET', 'GET', 'POST', 'HEAD', 'OPTIONS', 'DELETE'], ['TRACE', 'CONNECT', 'PRI', 'get', '']),
      mostly(paths, ['*', '//', 'http://x/', '/\u0000', '/%', `${paths[0]}?\u00ff`, '']),
      mostly(['HTTP/1.1'], ['HTTP/1.0', 'HTTP/2.0', 'HTTP/1.', '']),
    )
    .map((parts) => parts.join(' '));
const harmless = [
  'Connection: close',
  'Connection: keep-alive, x',
  'Connection: Upgrade',
  'Upgrade: websocket',
  'Content-Length: 0',
  'X-Petgate-Plan: business',
  'X_Petgate_Key_Id: x',
  'X-Forwarded-For: 192.0.2.1',
  'X-Request-Id: a b',
  'traceparent: x',
  '__proto__: x',
  'TE: trailers',
  'Authorization_: x',
  'Keep-Alive: x',
  'a:',
];
const field = fc.oneof(
  { weight: 8, arbitrary: fc.constantFrom(...harmless) },
  {
    weight: 2,
    arbitrary: fc.constantFrom('Expect: 100-continue', 'Expect: x', 'Content-Length: 2', 'Transfer-Encoding: chunked'),
  },
  {
    weight: 1,
    arbitrary: fc.constantFrom(
      'Host: y',
      'Content-Length: 5',
      'Content-Length: -1',
      'Transfer-Encoding: gzip',
      'Transfer-Encoding:',
      ': x',
      'odd',
      ' folded',
    ),
  },
  {
    weight: 1,
    arbitrary: fc
      .tuple(fc.string({ maxLength: 8 }), fc.string({ unit: 'binary', maxLength: 8 }))
      .map(([name, value]) => `${name}: ${value}`),
  },
);
const host = mostly(['Host: x'], ['Host:', 'Host: a b', 'X: y']);
const rest = fc.oneof(
  { weight: 3, arbitrary: fc.constant('') },
  { weight: 2, arbitrary: fc.constantFrom('{}', '2\r\n{}\r\n0\r\n\r\n', 'zz\r\n', '{}GET /v1/pets HTTP/1.1\r\n\r\n') },
  { weight: 1, arbitrary: fc.string({ unit: 'binary', maxLength: 40 }) },
);

interface Message {
  readonly line: string;
  readonly fields: readonly string[];
  readonly rest: string;
  readonly withKey: boolean;
  /** Whether one byte is changed, where, and into what. */
  readonly slip: readonly [number, number] | null;
  readonly split: number;
}
const messageTo = (api: Api): fc.Arbitrary<Message> =>
  fc.record({
    line: lineOf(api),
    rest,
    withKey: fc.boolean(),
    fields: fc.tuple(host, fc.array(field, { maxLength: 3 })).map(([first, more]) => [first, ...more]),
    slip: fc.option(fc.tuple(fc.double({ min: 0, max: 0.999, noNaN: true }), fc.nat(255)), { freq: 1 }),
    split: fc.double({ min: 0, max: 1, noNaN: true }),
  });
const raw = fc.uint8Array({ minLength: 1, maxLength: 300 }).map((bytes) => ({ bytes: Buffer.from(bytes), split: 0.5 }));

/** Sends in two pieces; gives what was answered until the gateway closed. */
function converse(port: number, bytes: Buffer, split: number): Promise<string> {
  return new Promise((resolve, reject) => {
    const socket = connect(port, '127.0.0.1');
    let text = '';
    socket.setNoDelay(true).setTimeout(NEVER_MS, () => {
      reject(new Error(`never ended: ${JSON.stringify(bytes.toString('latin1'))}`));
      socket.destroy();
    });
    socket.setEncoding('latin1').on('data', (chunk: string) => (text += chunk));
    socket.on('error', () => undefined).on('close', () => resolve(text));
    const at = Math.floor(bytes.length * split);
    socket.write(bytes.subarray(0, at), () =>
      setImmediate(() => {
        if (!socket.destroyed) socket.write(bytes.subarray(at));
      }),
    );
  });
}

/**
 * The attack: whatever comes to mind, and what does not. Nothing that a client sends may end the
 * gateway, be answered dishonestly, or reach the upstream other than as a well-formed request of ours.
 */
for (const api of APIS) {
  t.test(
    `${RUNS} random messages to ${api.name}: the gateway lives, answers honestly, and forwards only what is offered`,
    async (t) => {
      const upstream = await startUpstream(t);
      // A busy machine may take longer to connect than an upstream may: none of that here.
      const pets = { connect: '30s', deadline: '60s', breaker: 'off' };
      const front = await startFront(t, upstream.url, {
        config: { log: { access: false }, limits: LIMITS },
        pets,
        ...(api.foreign ? { foreign: foreignSettings(t) } : {}),
      });
      const seed = Number(process.env['SEED'] ?? Date.now() % 2 ** 31);
      t.comment(`seed ${seed}; repeat with SEED=${seed}`);

      const encode = ({ line: first, fields, rest: body, withKey, slip }: Message): Buffer => {
        const bytes = Buffer.from([first, ...fields, ...(withKey ? [front.key] : []), '', body].join('\r\n'), 'latin1');
        if (slip !== null) bytes[Math.floor(bytes.length * slip[0])] = slip[1];
        return bytes;
      };
      const inputs = fc.sample(
        fc.oneof(
          { weight: 9, arbitrary: messageTo(api).map((made) => ({ bytes: encode(made), split: made.split })) },
          { weight: 1, arbitrary: raw },
        ),
        { numRuns: RUNS, seed },
      );
      const statuses = new Map<number, number>();
      const judge = (answer: RawAnswer, sent: Buffer): void => {
        statuses.set(answer.status, (statuses.get(answer.status) ?? 0) + 1);
        t.ok(answer.status < 500 || [501, 505].includes(answer.status), 'no fault of ours', {
          status: answer.status,
          body: answer.body,
          sent: sent.toString('latin1'),
        });
        checkHonest(t, answer, JSON.stringify(sent.toString('latin1').slice(0, 60)));
      };
      const talk = async (): Promise<void> => {
        for (let input = inputs.pop(); input !== undefined; input = inputs.pop()) {
          const { bytes, split } = input;
          const text = await converse(front.port, bytes, split);
          // An answer to HEAD has a length and no body: its head alone is there to be judged.
          const answers = parseAnswers(
            /HEAD/i.test(bytes.toString('latin1')) ? text.replace(/^content-length: \d+\r\n/gim, '') : text,
          );
          for (const answer of answers) judge(answer, bytes);
        }
      };
      await Promise.all(Array.from({ length: AT_ONCE }, talk));
      t.equal(front.gateway.program.child.exitCode, null, 'the gateway lives');
      t.equal(await front.good(), 200, 'and serves');
      await front.idle();
      t.same(
        front.gateway.program.lines().filter(({ level }) => level === 'error' || level === 50),
        [],
        'and met no fault of its own',
      );
      t.comment(
        `answers by status: ${JSON.stringify(Object.fromEntries([...statuses].sort(([a], [b]) => a - b)))}; ` +
          `forwarded ${upstream.seen.length}`,
      );
      t.ok(
        [...statuses.values()].reduce((sum, count) => sum + count) > RUNS * 0.9,
        'nearly every message had its answer',
      );
      t.ok(upstream.seen.length > 50 && statuses.size > 6, 'the messages were not all alike');
      for (const { method, url, headers, rawHeaders } of upstream.seen) {
        const forged = rawHeaders.some(
          (text, index) =>
            index % 2 === 0 &&
            /^(?:x_petgate.*|x-petgate.*_.*|authorization_|te|upgrade|expect|connection|transfer-encoding)$/i.test(
              text,
            ) &&
            !(text === 'Connection' && /^(?:keep-alive|close)$/.test(rawHeaders[index + 1]!)),
        );
        t.ok(api.offers(method, url.split('?')[0]!) && /^[!-~]+$/.test(url) && !forged, 'well-formed', {
          method,
          url,
          rawHeaders,
        });
        t.ok(
          headers.authorization === (api.foreign ? undefined : `Bearer ${INTERNAL_TOKEN}`) &&
            headers['x-petgate-plan'] === 'free' &&
            headers['x-petgate-key-id'] === front.keyId,
          'in our name',
        );
      }
    },
  );
}
