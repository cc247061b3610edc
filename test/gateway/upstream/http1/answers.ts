/** Answers made by chance: most are good, the others wrong in one of the ways that servers and attackers are. */
interface MadeAnswer {
  readonly method: 'GET' | 'HEAD';
  readonly bytes: Buffer;
}

type Next = () => number;

const pick = <T>(next: Next, items: readonly T[]): T => items[Math.floor(next() * items.length)]!;
const chance = (next: Next, probability: number): boolean => next() < probability;

const STATUS_LINES = [
  'HTTP/1.1 200 OK',
  'HTTP/1.1 200 OK',
  'HTTP/1.1 201 Created',
  'HTTP/1.1 404 Not Found',
  'HTTP/1.1 500 Caf\u00e9',
  'HTTP/1.0 200 OK',
  'HTTP/1.1 204 No Content',
  'HTTP/1.1 304 Not Modified',
  'HTTP/1.1 205 Reset Content',
  'HTTP/1.1 200',
  'HTTP/1.1 200 ',
  'HTTP/1.1 599 Odd',
] as const;
const ODD_STATUS_LINES = [
  'HTTP/2.0 200 OK',
  'HTTP/0.9 200 OK',
  'HTTP/1.1 20 OK',
  'HTTP/1.1 2000 OK',
  'HTTP/1.1 099 Odd',
  'HTTP/1.1  200 OK',
  'HTTP/1.1 101 Switching Protocols',
  'http/1.1 200 OK',
  'RTSP/1.0 200 OK',
  'ICE/1.0 200 OK',
  'HTTP/1.1 200 O\u0001K',
  '\r\nHTTP/1.1 200 OK',
  'HTTP/1.1 200 OK\r',
  'HTTP/1.1 999 Odd',
] as const;
const INTERIM = [
  'HTTP/1.1 100 Continue\r\n\r\n',
  'HTTP/1.1 103 Early Hints\r\nLink: </x>\r\n\r\n',
  'HTTP/1.1 102 Processing\r\nContent-Length: 3\r\n\r\n',
] as const;
const FIELDS = [
  'Content-Type: application/json',
  'ETag: "1"',
  'Set-Cookie: a=1',
  'Set-Cookie: b=2',
  'X-Latin: caf\u00e9',
  'X-Empty:',
  'X-Tab:\ta\tb \t',
  'Vary: Accept',
  'Connection: keep-alive',
  'Connection: close',
  'Keep-Alive: timeout=5',
  "!#$%&'*+-.^_`|~: odd",
  'Date: Sun, 22 Nov 2026 05:00:00 GMT',
  '__proto__: x',
] as const;
const ODD_FIELDS = [
  ' folded',
  '\tfolded',
  'X-Space : a',
  ': none',
  'none',
  'X(Odd): a',
  'X-Null: a\u0000b',
  'X-Control: a\u0001b',
  'X-Delete: a\u007fb',
  'X-Cr: a\rb',
  'X-Lf: a\nb',
  'Caf\u00e9: a',
  'X-Odd: a\n',
  '\r',
] as const;
const ODD_FRAMING = [
  'Content-Length: 3\r\nContent-Length: 3',
  'Content-Length: 3, 3',
  'Content-Length: -1',
  'Content-Length: +3',
  'Content-Length: 0x3',
  'Content-Length:',
  'Content-Length: 3 ',
  'Content-Length: 003',
  'Content-Length: 99999999999999999999',
  'Content-Length: 3\r\nTransfer-Encoding: chunked',
  'Transfer-Encoding: chunked\r\nContent-Length: 3',
  'Transfer-Encoding: gzip',
  'Transfer-Encoding: gzip, chunked',
  'Transfer-Encoding: chunked, gzip',
  'Transfer-Encoding: identity',
  'Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked',
  'Transfer-Encoding:',
  'Transfer-Encoding: CHUNKED',
] as const;
const SIZES = [
  (size: number) => size.toString(16),
  (size: number) => size.toString(16).toUpperCase(),
  (size: number) => `00${size.toString(16)}`,
  (size: number) => `${size.toString(16)};a=b`,
  (size: number) => `${size.toString(16)};a="b c"`,
] as const;
const ODD_SIZES = ['x', '-1', ' 2', '2 ', '', ';a', '2;a\u0001', '2\n', 'fffffffffffffffff', '0x2'] as const;
const TRAILERS = ['X-Sum: 1\r\n', 'Expires: 0\r\nX-Sum: 2\r\n', 'odd\r\n', 'X-Lf: 1\n', ' folded\r\n'] as const;
const CONTENT = [
  '',
  'a',
  '[]',
  '\r\n',
  '0\r\n\r\n',
  'HTTP/1.1 200 OK\r\n\r\n',
  '\u0000\u00ff',
  'x'.repeat(300),
] as const;
const INSERTED = ['\r', '\n', '\r\n', '\u0000', ' ', ':', '0', '\r\n\r\n'] as const;

export function makeAnswer(next: Next): MadeAnswer {
  const method = chance(next, 0.1) ? 'HEAD' : 'GET';
  let text = '';
  while (chance(next, 0.05)) text += pick(next, INTERIM);
  text += `${chance(next, 0.03) ? pick(next, ODD_STATUS_LINES) : pick(next, STATUS_LINES)}\r\n`;
  for (let count = Math.floor(next() * 6); count > 0; count -= 1)
    text += `${chance(next, 0.02) ? pick(next, ODD_FIELDS) : pick(next, FIELDS)}\r\n`;
  text += framed(next);
  if (chance(next, 0.05)) text += pick(next, CONTENT);
  if (chance(next, 0.1)) text = damaged(next, text);
  return { method, bytes: Buffer.from(text, 'latin1') };
}

/** The last fields, and the body that is meant by them. */
function framed(next: Next): string {
  const content = pick(next, CONTENT) + pick(next, CONTENT);
  const kind = next();
  if (kind < 0.45) return `Content-Length: ${content.length}\r\n\r\n${content}`;
  if (kind < 0.8) return `Transfer-Encoding: chunked\r\n\r\n${chunks(next, content)}`;
  if (kind < 0.9) return `\r\n${content}`;
  if (kind < 0.95) return `Content-Length: ${content.length + Math.floor(next() * 5) - 2}\r\n\r\n${content}`;
  return `${pick(next, ODD_FRAMING)}\r\n\r\n${chance(next, 0.5) ? '[1]' : chunks(next, content)}`;
}

function chunks(next: Next, content: string): string {
  let text = '';
  for (let at = 0; at < content.length;) {
    const size = 1 + Math.floor(next() * Math.min(40, content.length - at));
    const sizeText = chance(next, 0.02) ? pick(next, ODD_SIZES) : pick(next, SIZES)(size);
    text += `${sizeText}\r\n${content.slice(at, at + size)}\r\n`;
    at += size;
  }
  return `${text}${pick(next, SIZES)(0)}\r\n${chance(next, 0.2) ? pick(next, TRAILERS) : ''}\r\n`;
}

/** A few bytes are changed, left out or added. */
function damaged(next: Next, text: string): string {
  let result = text;
  for (let count = 1 + Math.floor(next() * 3); count > 0; count -= 1) {
    const at = Math.floor(next() * result.length);
    const kind = next();
    if (kind < 0.3) result = result.slice(0, at) + String.fromCharCode(Math.floor(next() * 256)) + result.slice(at + 1);
    else if (kind < 0.6) result = result.slice(0, at) + result.slice(at + 1);
    else if (kind < 0.9) result = result.slice(0, at) + pick(next, INSERTED) + result.slice(at);
    else result = result.slice(0, at);
  }
  return result;
}
