import t from 'tap';
import type { Progress } from '../../../../src/gateway/upstream/http1/reader.js';
import { cut, randomOf, read } from './read.js';

interface Case {
  readonly name: string;
  /** Lines; each gets its CRLF. */
  readonly head: readonly string[];
  readonly body?: string;
  readonly method?: string;
  readonly ends?: boolean;
  readonly outcome: Progress;
  /** Of the final answer, where it is one. */
  readonly status?: number;
  readonly read?: string;
}

const OK = 'HTTP/1.1 200 OK';
const CHUNKED = [OK, 'Transfer-Encoding: chunked'];
const bad = (name: string, head: readonly string[], body = ''): Case => ({ name, head, body, outcome: 'malformed' });
const done = (
  name: string,
  head: readonly string[],
  body: string,
  content: string,
  more: Partial<Case> = {},
): Case => ({ name, head, body, outcome: 'done', status: 200, read: content, ...more });

const CASES: readonly Case[] = [
  done('a length', [OK, 'Content-Length: 5'], 'whole', 'whole'),
  done('a length of none', [OK, 'Content-Length: 0'], '', ''),
  done('leading zeros', [OK, 'Content-Length: 0005'], 'whole', 'whole'),
  done('blanks around a value', [OK, 'Content-Length: \t 5 \t'], 'whole', 'whole'),
  done('no reason phrase', ['HTTP/1.1 200 ', 'Content-Length: 2'], '[]', '[]'),
  done('no blank behind the status', ['HTTP/1.1 200', 'Content-Length: 2'], '[]', '[]'),
  done('a status nobody knows', ['HTTP/1.1 599 Odd', 'Content-Length: 2'], '[]', '[]', { status: 599 }),
  done('chunks', CHUNKED, '5\r\nwhole\r\nA\r\n0123456789\r\n0\r\n\r\n', 'whole0123456789'),
  done('chunked in another case', [OK, 'transfer-encoding: Chunked'], '00002\r\n[]\r\n000\r\n\r\n', '[]'),
  done('chunk extensions', CHUNKED, '2;a=b;c="d e"\r\n[]\r\n0;last\r\n\r\n', '[]'),
  done('a trailer', CHUNKED, '2\r\n[]\r\n0\r\nExpires: 0\r\nX-Sum: \t1\r\n\r\n', '[]'),
  done('chunks for HEAD', CHUNKED, '', '', { method: 'HEAD' }),
  done('a length for HEAD', [OK, 'Content-Length: 5'], '', '', { method: 'HEAD' }),
  done('neither for HEAD', [OK], '', '', { method: 'HEAD' }),
  done('204', ['HTTP/1.1 204 No Content'], '', '', { status: 204 }),
  done('204 with a length', ['HTTP/1.1 204 No Content', 'Content-Length: 5'], '', '', { status: 204 }),
  done('304 with a length', ['HTTP/1.1 304 Not Modified', 'Content-Length: 5', 'ETag: "1"'], '', '', { status: 304 }),
  done('everything until the end', [OK], 'whole', 'whole', { ends: true }),
  done('nothing until the end', [OK], '', '', { ends: true }),
  done('HTTP/1.0', ['HTTP/1.0 200 OK', 'Content-Length: 5'], 'whole', 'whole'),
  done(
    'interim answers',
    ['HTTP/1.1 103 Early Hints', 'Link: </x>', '', 'HTTP/1.1 102 Processing', '', OK, 'Content-Length: 2'],
    '[]',
    '[]',
  ),
  done(
    'an interim answer with a length',
    ['HTTP/1.1 102 Processing', 'Content-Length: 7', '', OK, 'Content-Length: 2'],
    '[]',
    '[]',
  ),
  done('bytes beyond ASCII', [OK, 'X-Latin: caf\u00e9', 'Content-Length: 3'], '\u00ff\u0000\r', '\u00ff\u0000\r'),
  { name: 'half a length', head: [OK, 'Content-Length: 5'], body: 'half', outcome: 'more', status: 200, read: 'half' },
  {
    name: 'half a length, then the end',
    head: [OK, 'Content-Length: 5'],
    body: 'half',
    ends: true,
    outcome: 'malformed',
    status: 200,
    read: 'half',
  },
  {
    name: 'no last chunk',
    head: CHUNKED,
    body: '2\r\n[]\r\n',
    ends: true,
    outcome: 'malformed',
    status: 200,
    read: '[]',
  },
  {
    name: 'no end of the trailer',
    head: CHUNKED,
    body: '2\r\n[]\r\n0\r\n',
    ends: true,
    outcome: 'malformed',
    status: 200,
    read: '[]',
  },
  { name: 'only interim answers', head: ['HTTP/1.1 103 Early Hints'], ends: true, outcome: 'malformed', status: 0 },
  {
    name: 'more than the length',
    head: [OK, 'Content-Length: 2'],
    body: '[]x',
    outcome: 'surplus',
    status: 200,
    read: '[]',
  },
  {
    name: 'another answer',
    head: [OK, 'Content-Length: 2'],
    body: `[]${OK}\r\n\r\n`,
    outcome: 'surplus',
    status: 200,
    read: '[]',
  },
  {
    name: 'a body for HEAD',
    head: [OK, 'Content-Length: 2'],
    body: '[]',
    method: 'HEAD',
    outcome: 'surplus',
    status: 200,
    read: '',
  },
  {
    name: 'a body for 204',
    head: ['HTTP/1.1 204 No Content', 'Content-Length: 2'],
    body: '[]',
    outcome: 'surplus',
    status: 204,
    read: '',
  },
  {
    name: 'a body for 304',
    head: ['HTTP/1.1 304 Not Modified', 'Content-Length: 2'],
    body: '[]',
    outcome: 'surplus',
    status: 304,
    read: '',
  },
  {
    name: 'more behind the last chunk',
    head: CHUNKED,
    body: '0\r\n\r\n\r\n',
    outcome: 'surplus',
    status: 200,
    read: '',
  },
  bad('two lengths', [OK, 'Content-Length: 2', 'Content-Length: 3']),
  bad('the same length twice', [OK, 'Content-Length: 2', 'Content-Length: 2']),
  bad('a list of lengths', [OK, 'Content-Length: 2, 2']),
  ...['-1', '+1', '1.0', '0x1', '1e1', '', ' ', '1 1', '9999999999999999', '\u00b2'].map((length) =>
    bad(`length '${length}'`, [OK, `Content-Length: ${length}`]),
  ),
  bad('length and chunks', [OK, 'Content-Length: 2', 'Transfer-Encoding: chunked']),
  bad('chunks and length', [...CHUNKED, 'Content-Length: 2']),
  bad('chunked twice', [...CHUNKED, 'Transfer-Encoding: chunked']),
  ...['gzip', 'gzip, chunked', 'chunked, gzip', 'chunked, chunked', 'identity', 'xchunked', ''].map((coding) =>
    bad(`coding '${coding}'`, [OK, `Transfer-Encoding: ${coding}`]),
  ),
  bad('chunks of HTTP/1.0', ['HTTP/1.0 200 OK', 'Transfer-Encoding: chunked']),
  ...[
    'HTTP/2.0 200 OK',
    'HTTP/0.9 200 OK',
    'HTTP/1.2 200 OK',
    'HTTP/1.1  200 OK',
    'HTTP/1.1 20 OK',
    'HTTP/1.1 2000 OK',
    'HTTP/1.1 099 Odd',
    'HTTP/1.1 1e2 Odd',
    'HTTP/1.1',
    'http/1.1 200 OK',
    'ICY 200 OK',
    ' HTTP/1.1 200 OK',
    'HTTP/1.1\t200 OK',
    '',
  ].map((line) => bad(`'${line}'`, [line, 'Content-Length: 0'])),
  bad('a switch of protocols', ['HTTP/1.1 101 Switching Protocols', 'Connection: upgrade', 'Upgrade: websocket']),
  bad('a folded line', [OK, 'X-Folded: a', ' b', 'Content-Length: 0']),
  bad('a blank before the colon', [OK, 'Content-Length : 0']),
  bad('no colon', [OK, 'Content-Length 0']),
  bad('no name', [OK, ': 0', 'Content-Length: 0']),
  bad('a name that is none', [OK, 'X(Odd): 0', 'Content-Length: 0']),
  ...['\u0000', '\u0001', '\u007f', '\r', '\n', '\r\r', '\n\r'].map((odd) =>
    bad(`a value with ${JSON.stringify(odd)}`, [OK, `X-Odd: a${odd}b`, 'Content-Length: 0']),
  ),
  bad('a status line with a control character', ['HTTP/1.1 200 O\u0001K', 'Content-Length: 0']),
  bad('too many fields', [OK, ...Array<string>(257).fill('a: b'), 'Content-Length: 0']),
  bad('too large a head', [OK, `X-Large: ${'x'.repeat(16 * 1024)}`, 'Content-Length: 0']),
  bad('too many interim answers', [
    ...Array<string[]>(33).fill(['HTTP/1.1 102 Processing', '']).flat(),
    OK,
    'Content-Length: 0',
  ]),
  ...['x', '-1', ' 2', '2 ', '0x2', '', ';a', '2\t;a', '10000000000000', '2\n', '2\r\r\n'].map((size) =>
    bad(`chunk size ${JSON.stringify(size)}`, CHUNKED, `${size}\r\n[]\r\n0\r\n\r\n`),
  ),
  bad('a chunk longer than it says', CHUNKED, '2\r\n[]x\r\n0\r\n\r\n'),
  bad('a chunk that ends in LF', CHUNKED, '2\r\n[]\n0\r\n\r\n'),
  bad('an extension with LF', CHUNKED, '2;a\nb\r\n[]\r\n0\r\n\r\n'),
  bad('too long an extension', CHUNKED, `2;${'a'.repeat(1025)}\r\n[]\r\n0\r\n\r\n`),
  bad('a trailer that is no field', CHUNKED, '0\r\nodd\r\n\r\n'),
  bad('a trailer that is no field, then LF', CHUNKED, '0\r\nodd\r\n\n'),
  bad('a trailer that ends in LF', CHUNKED, '0\r\nX-Sum: 1\n\r\n'),
  bad('too large a trailer', CHUNKED, `0\r\nX-Sum: ${'1'.repeat(16 * 1024)}\r\n\r\n`),
];

const bytesOf = ({ head, body = '' }: Case): Buffer => Buffer.from(`${head.join('\r\n')}\r\n\r\n${body}`, 'latin1');

t.test('each answer is read as RFC 9112 asks, or refused', (t) => {
  for (const one of CASES) {
    const { outcome, status, body } = read([bytesOf(one)], one.method ?? 'GET', one.ends ?? false);
    t.equal(outcome, one.outcome, one.name);
    if (one.status !== undefined) t.equal(status, one.status, `${one.name}: status`);
    if (one.read !== undefined) t.equal(body, one.read, `${one.name}: body`);
  }
  t.end();
});

t.test('however it is cut into pieces, the result is the same', (t) => {
  const next = randomOf(9112);
  for (const one of CASES) {
    const bytes = bytesOf(one);
    const method = one.method ?? 'GET';
    const ends = one.ends ?? false;
    const whole = read([bytes], method, ends);
    const cuts = [bytes.length, ...Array.from({ length: 30 }, () => 1 + Math.floor(next() * 8))];
    for (const count of cuts) {
      const pieces = count === bytes.length ? Array.from(bytes, (byte) => Buffer.of(byte)) : cut(bytes, count, next);
      const pieced = read(pieces, method, ends);
      // Where the bytes stop being an answer, some pieces may have been read before.
      const same =
        whole.outcome === 'malformed'
          ? pieced.outcome === 'malformed'
          : JSON.stringify(pieced) === JSON.stringify(whole);
      if (!same)
        t.strictSame(pieced, whole, `${one.name}, in ${pieces.length} pieces: ${JSON.stringify(pieces.map(String))}`);
    }
  }
  t.pass(`${CASES.length} answers, each in 31 ways`);
  t.end();
});

t.test('fields keep their order, their case of values and their doubles', (t) => {
  const { fields } = read(
    [
      Buffer.from(
        'HTTP/1.1 200 OK\r\nSet-Cookie: A=1\r\nVary:Accept\r\nset-cookie:\tB=2 \r\nX-Empty:\r\nContent-Length: ' +
          '0\r\n\r\n',
      ),
    ],
    'GET',
    false,
  );
  t.strictSame(fields, ['set-cookie: A=1', 'vary: Accept', 'set-cookie: B=2', 'x-empty: ', 'content-length: 0']);
  t.end();
});

t.test('what cannot become an answer is refused at once, not when time is over', (t) => {
  for (const text of [
    'SSH-2.0-OpenSSH_9.2\r\n',
    'HTTP/1.1 200 OK\nContent-Length: 0\n\n',
    'HTTP/1.1 200 OK\r\rX',
    'HTTX',
    '\r\n',
  ]) {
    t.equal(read([Buffer.from(text)], 'GET', false).outcome, 'malformed', JSON.stringify(text));
  }
  t.equal(read([Buffer.from('HTTP/1.1 200 OK\r')], 'GET', false).outcome, 'more');
  t.end();
});
