/** One hostile thing: what a client writes, again and again, on how many connections. `{key}` is its own valid key. */
export interface Thing {
  readonly bytes: string;
  readonly connections?: number;
  /** The connection stays as it is: nothing more is written on it, and nothing is read. */
  readonly holds?: boolean;
  /** What the client does once it has written, instead of waiting for a response. */
  readonly then?: 'close' | 'end' | 'reset';
}

const get = (path: string, ...fields: readonly string[]): string =>
  [`GET ${path} HTTP/1.1`, 'Host: x', ...fields, '', ''].join('\r\n');
const KEY = 'Authorization: Bearer {key}';
const own = (...fields: readonly string[]): string => get('/v1/pets', KEY, ...fields);
const post = (...lines: readonly string[]): string =>
  ['POST /v1/pets HTTP/1.1', 'Host: x', KEY, 'Content-Type: application/json', ...lines].join('\r\n');
const upstream = (what: string): string => own(`X-Do: ${what}`);

/** What an ordinary client does at the highest rate it can: the waits beside it are what others are compared with. */
export const ORDINARY: Thing = { bytes: own() };

export const THINGS: Readonly<Record<string, Thing>> = {
  'an Origin of 2,000 blanks and a bare CR': { bytes: `GET / HTTP/1.1\r\nOrigin:${' '.repeat(2_000)}\r` },
  'an Origin of 16,000 blanks and a bare CR': { bytes: `GET / HTTP/1.1\r\nOrigin:${' '.repeat(16_000)}\r` },
  'a request line that is none': { bytes: 'NO\r\n\r\n' },
  'two Hosts': { bytes: get('/v1/pets', 'Host: y') },
  'Content-Length with Transfer-Encoding': {
    bytes: post('Content-Length: 2', 'Transfer-Encoding: chunked', '', '0', '', ''),
  },
  'a head of 20 kB': { bytes: own(`X-Large: ${'x'.repeat(20_000)}`) },
  '3,000 empty fields': { bytes: own(...Array<string>(3_000).fill('a:')) },
  'a URL of 10 kB': { bytes: get(`/v1/pets?${'q'.repeat(10_000)}`, KEY) },
  'no key': { bytes: get('/v1/pets') },
  'a key that does not exist': { bytes: get('/v1/pets', `Authorization: Bearer ptg_development_${'A'.repeat(44)}`) },
  'a key that is none': { bytes: get('/v1/pets', `Authorization: Bearer ${'?'.repeat(1_000)}`) },
  'paths that do not exist': { bytes: get('/nothing', KEY) },
  'methods that do not exist': { bytes: own().replace('GET', 'DELETE') },
  'escapes and dots in a path': { bytes: get(`/v1/${'%2e%2e/'.repeat(200)}pets`, KEY) },
  'a path of 2,000 segments': { bytes: get('/a'.repeat(2_000), KEY) },
  'chunks of one byte': {
    bytes: post('Transfer-Encoding: chunked', '', '1\r\n{\r\n1\r\n}\r\n'.repeat(500) + '0', '', ''),
  },
  'chunk extensions': { bytes: post('Transfer-Encoding: chunked', '', `2;${'e=1;'.repeat(2_000)}`, '{}', '0', '', '') },
  'bodies that never come': { bytes: post('Content-Length: 1000', '', '{'), holds: true, connections: 200 },
  'heads that never end': { bytes: 'GET / HTTP/1.1\r\nHost: x\r\nX-A', holds: true, connections: 200 },
  'connections without a byte': { bytes: '', holds: true, connections: 200 },
  'connections that come and go': { bytes: '', then: 'close' },
  'responses that nobody reads': { bytes: own('X-Do: large'), holds: true, connections: 64 },
  '60 requests in one write': { bytes: own().repeat(60) },
  '60 requests in one write, and gone': { bytes: own().repeat(60), then: 'reset' },
  'a request, then FIN': { bytes: own(), then: 'end' },
  'a request, then a reset': { bytes: own(), then: 'reset' },
  'Expect: 100-continue without a body': {
    bytes: post('Content-Length: 10', 'Expect: 100-continue', '', ''),
    then: 'close',
  },
  'an Expect that nobody knows': { bytes: own('Expect: the-worst') },
  'OPTIONS for nothing': { bytes: own().replace('GET', 'OPTIONS') },
  CONNECT: { bytes: 'CONNECT x:443 HTTP/1.1\r\nHost: x:443\r\n\r\n' },
  'HTTP/2 without TLS': { bytes: 'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n' },
  'Upgrade: h2c': { bytes: own('Connection: Upgrade, HTTP2-Settings', 'Upgrade: h2c', 'HTTP2-Settings: AAMAAABk') },
  'a WebSocket handshake to no tunnel': {
    bytes: own('Connection: Upgrade', 'Upgrade: websocket', 'Sec-WebSocket-Version: 13', 'Sec-WebSocket-Key: x'),
  },
  'bodies of 1 MiB': { bytes: post(`Content-Length: ${2 ** 20}`, '', 'x'.repeat(2 ** 20)), connections: 4 },
  'bodies above the limit': { bytes: post('Content-Length: 99999999', '', '{') },
  'a body of 100,000 brackets': { bytes: post('Content-Length: 100000', '', '['.repeat(100_000)), connections: 4 },
  'a Connection field of 3,000 names': { bytes: own(`Connection: ${'a, '.repeat(3_000)}close`) },
  'an Accept of 10,000 commas': { bytes: own(`Accept: ${','.repeat(10_000)}`) },
  'requests at which the upstream hangs': { bytes: upstream('hang'), connections: 100 },
  'requests at which the upstream panics': { bytes: upstream('panic') },
  'responses that cannot be read': { bytes: upstream('unreadable') },
  'response heads above 16 KiB': { bytes: upstream('long-head') },
  'event streams': { bytes: upstream('stream'), holds: true, connections: 300 },
  'responses byte by byte': { bytes: upstream('drip'), connections: 100 },
};

/** Whether it goes on without a response to what it did. */
export function isRushing(name: string): boolean {
  const { then } = THINGS[name] ?? {};
  return then === 'close' || then === 'reset';
}
