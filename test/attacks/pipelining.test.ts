import t from 'tap';
import { checkHonest } from '../answers/honest.js';
import { exchangeRaw, openLine, statusesOf } from '../servers/raw.js';
import { startUpstream } from '../servers/upstream.js';
import { until } from '../servers/until.js';
import { metricOf, request, startFront } from './front.js';

/** One that is worked on, and those that may wait behind it. */
const IN_A_ROW = 1 + 64;

const upstream = await startUpstream(t);
const front = await startFront(t, upstream.url, { config: { limits: { exchanges: 4 } } });

t.beforeEach(() => {
  upstream.seen.length = 0;
});

/** Answers with the target it was asked for; the first ones slower than those that follow. */
function echo(): void {
  let asked = 0;
  upstream.handle = ({ url }, response) => void setTimeout(() => response.end(url), Math.max(0, 30 - 10 * asked++));
}

/** The attack: a slow request before a quick one, so that one client's answers change places. */
t.test('answers to pipelined requests come in the order of their requests', async (t) => {
  echo();
  const lines = Array.from({ length: IN_A_ROW }, (_, n) => (n % 7 === 3 ? 'GET /v1/cats' : `GET /v1/pets?n=${n}`));
  const answers = await exchangeRaw(front.port, lines.map((line) => request(line, front.key)).join(''), lines.length);
  t.same(
    answers.map(({ status, body }) => (status === 404 ? 'GET /v1/cats' : `GET ${body}`)),
    lines,
  );
  for (const answer of answers) checkHonest(t, answer, 'pipelined');
  await front.idle();
});

/** The attack: a body beside its neighbours, some of it late. */
t.test('pipelined bodies belong to their own requests', async (t) => {
  upstream.handle = ({ body }, response) => response.writeHead(201).end(body);
  const posts = Array.from({ length: 20 }, (_, n) => ({ n, text: `{"n":${n},"pad":"${'x'.repeat(n * 977)}"}` }));
  const bytes = posts
    .map(({ n, text }) =>
      n % 2 === 0
        ? request('POST /v1/pets', front.key, `Content-Length: ${text.length}`) + text
        : request('POST /v1/pets', front.key, 'Transfer-Encoding: chunked') +
          `${text.length.toString(16)}\r\n${text}\r\n0\r\n\r\n`,
    )
    .join('');
  const { socket, answers } = openLine(t, front.target, '');
  for (let at = 0; at < bytes.length; at += 1500) {
    socket.write(bytes.slice(at, at + 1500));
    await new Promise((resolve) => setImmediate(resolve));
  }
  await until('all bodies arrived', () => upstream.seen.length === posts.length);
  t.same(
    upstream.seen.map(({ body }) => body),
    posts.map(({ text }) => text),
  );
  await until('all answers came', () => answers().filter(({ status }) => status === 201).length === posts.length);
});

/** The attack: rubbish behind a good request, so that its 400 is read as the answer to the good one. */
t.test("a second request that is none does not take the first one's place", async (t) => {
  echo();
  const good = request('GET /v1/pets?n=1', front.key);
  const bad = [
    'BLARG\r\n\r\n',
    'GET /v1/pets HTTP/1.1\r\nHost: x\r\nbroken\r\n\r\n',
    request('CONNECT x:80', front.key),
    `${request('POST /v1/pets', front.key, 'Content-Length: 1', 'Content-Length: 2')}xx`,
  ];
  for (const rubbish of bad) {
    upstream.seen.length = 0;
    const name = rubbish.slice(0, 12);
    const answers = await exchangeRaw(front.port, good + rubbish);
    t.same(
      answers.map(({ status, body }) => `${status} ${body}`),
      ['200 /v1/pets?n=1'],
      `${name}: the good one is answered, then the connection ends`,
    );
    const three = await exchangeRaw(
      front.port,
      good + request('GET /v1/pets?n=2', front.key) + request('GET /v1/pets?n=3', front.key) + rubbish,
    );
    t.same(
      three.map(({ body }) => body),
      [1, 2, 3].map((n) => `/v1/pets?n=${n}`),
      `${name}: also behind three`,
    );
    t.equal(upstream.seen.length, 4);
  }
  const broken = `${request('POST /v1/pets?n=2', front.key, 'Transfer-Encoding: chunked')}zz\r\n`;
  const answers = await exchangeRaw(front.port, good + broken);
  t.same(statusesOf(answers), [200, 400], 'a request whose body breaks is told so, in its turn');
  await front.idle();
});

/**
 * The attack: requests behind one that ends the connection. Nobody can read their answers, but they
 * are paid for, and take effect.
 */
t.test('nothing behind the last request of a connection is begun', async (t) => {
  const front = await startFront(t, upstream.url, { config: { limits: { requests_per_connection: 3 } } });
  const post = `${request('POST /v1/pets', front.key, 'Content-Length: 2')}{}`;
  const last: Readonly<Record<string, readonly [string, readonly number[], number]>> = {
    'Connection: close': [
      `${request('POST /v1/pets', front.key, 'Connection: close', 'Content-Length: 2')}{}${post}`,
      [200],
      1,
    ],
    'HTTP/1.0': [`POST /v1/pets HTTP/1.0\r\n${front.key}\r\nContent-Length: 2\r\n\r\n{}${post}`, [200], 1],
    'the most requests a connection may make': [post.repeat(9), [200, 200, 200], 3],
    'a fault': [request('GET /v1/pets', 'Host: y', front.key) + post, [400], 0],
    'a body too large': [request('POST /v1/pets', front.key, 'Content-Length: 99999999') + post, [413], 0],
    'a body on GET': [`${request('GET /v1/pets', front.key, 'Content-Length: 2')}{}${post}`, [400], 0],
  };
  for (const [name, [bytes, statuses, behind]] of Object.entries(last)) {
    upstream.seen.length = 0;
    const paid = await metricOf(front.gateway, 'petgate_admitted_total');
    const answers = await exchangeRaw(front.port, bytes);
    t.same(statusesOf(answers), statuses, name);
    t.equal(answers.at(-1)?.headers.get('connection'), 'close', `${name}: the last answer says so`);
    t.equal(upstream.seen.length, behind, `${name}: ${behind} taken on`);
    const more = (await metricOf(front.gateway, 'petgate_admitted_total')) - paid;
    t.ok(more <= Math.max(behind, 1), `${name}: no more is paid for`);
  }
  await front.idle();
});

/**
 * The attack: thousands of requests in one packet, all made and kept at once, or begun at once, to the harm of all
 * others.
 */
t.test('one connection has one exchange at a time, and ends with the last that could wait', async (t) => {
  let atOnce = 0;
  let most = 0;
  upstream.handle = (_seen, response) => {
    most = Math.max(most, ++atOnce);
    setImmediate(() => {
      atOnce -= 1;
      response.end('[]');
    });
  };
  const many = 2000;
  const pending = exchangeRaw(front.port, request('GET /v1/pets', front.key).repeat(many));
  await until('it began', () => upstream.seen.length > 10);
  t.equal(await front.good(), 200, 'another client has its turn');
  const answers = await pending;
  t.equal(answers.length, IN_A_ROW, 'as many are answered as could wait, then the connection ends');
  t.ok(answers.every(({ status }) => status === 200));
  t.same(
    answers.flatMap(({ headers }, n) => (headers.get('connection') === 'close' ? [n] : [])),
    [IN_A_ROW - 1],
    'as the last answer says',
  );
  t.ok(most <= 2, `at most ${most} at once`);
  await front.idle();

  const paced = openLine(t, front.target, '');
  for (let sent = 10; sent <= 300; sent += 10) {
    paced.socket.write(request('GET /v1/pets', front.key).repeat(10));
    await until(`${sent} are answered`, () => paced.text().split('HTTP/1.1 200').length === sent + 1);
  }
});

/** The attack: as many as can wait on a connection, on so many connections that memory ends. */
t.test('in all no more wait than limits.pipelined', async (t) => {
  const front = await startFront(t, upstream.url, { config: { limits: { pipelined: 10 } } });
  const held: (() => void)[] = [];
  upstream.handle = (_seen, response) => void held.push(() => response.end('[]'));
  const first = exchangeRaw(front.port, request('GET /v1/pets', front.key).repeat(9), 9);
  await until('one is worked on', () => held.length === 1);
  const second = exchangeRaw(front.port, request('GET /v1/pets', front.key).repeat(9));
  await until('another is', () => held.length === 2);
  upstream.handle = (_seen, response) => response.end('[]');
  held[1]!();
  t.equal((await second).length, 1 + 2, 'two places were left');
  held[0]!();
  t.equal((await first).length, 9);
  t.equal(
    (await exchangeRaw(front.port, request('GET /v1/pets', front.key).repeat(11), 11)).length,
    11,
    'all places are free again',
  );
});
