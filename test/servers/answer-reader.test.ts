import t from 'tap';
import { AnswerReader } from './answer-reader.js';

t.test('answers are read alike in one piece, in pieces, and character by character', (t) => {
  const body = 'x\r\n\r\nHTTP/1.1 200 OK'.repeat(20);
  const chunk = `${body.length.toString(16)};a=b\r\n${body}\r\n`;
  const text = [
    'HTTP/1.1 100 Continue\r\n\r\n',
    `HTTP/1.1 200 OK\r\nContent-Length: ${body.length}\r\nVary: a\r\nvary:b\r\n\r\n${body}`,
    `HTTP/1.1 201 Created\r\nTransfer-Encoding: chunked\r\n\r\n${chunk}${chunk}0\r\n\r\n`,
    'HTTP/1.1 304 Not Modified\r\nContent-Length: 7\r\n\r\n',
    'HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\n\r\n',
    'HTTP/1.1 200 OK\r\nContent-Length: 3\r\n\r\nab',
  ].join('');
  for (const size of [text.length, 97, 7, 1]) {
    const reader = new AnswerReader();
    for (let at = 0; at < text.length; at += size) reader.add(text.slice(at, at + size));
    t.strictSame(
      reader.answers.map(({ status, body: read }) => [status, read]),
      [
        [200, body],
        [201, body + body],
        [304, ''],
        [404, ''],
      ],
      `${size} at a time`,
    );
    t.equal(reader.answers[0]?.headers.get('vary'), 'a, b');
    reader.add('c');
    t.match(reader.answers[4], { status: 200, body: 'abc' }, 'the last one once it is whole');
  }
  t.end();
});
