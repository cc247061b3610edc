import t from 'tap';
import { request, startFront } from './front.js';
import { OK, startRawUpstream } from './raw-upstream.js';

const TOUCHY = { failures: 1, open: '1h', cap: '1h' };
const FIELDS = Array.from({ length: 300 }, (_, index) => `X-${index}: y`).join('\r\n');

/** The attack: one client asks for what makes the service send a response that the gateway must not read. */
t.test('unreadable responses are asked for once, and open no breaker', async (t) => {
  const upstream = await startRawUpstream(t);
  const front = await startFront(t, upstream.url, { pets: { breaker: TOUCHY } });
  for (const [name, head] of Object.entries({
    'a head above 16 KiB': `X-Large: ${'x'.repeat(20_000)}`,
    'more than 256 fields': FIELDS,
    'two equal Content-Lengths': 'Content-Length: 2\r\nContent-Length: 2',
    'a folded line': 'X-Folded: a\r\n b',
    'a line that ends in LF': 'X-Line: a\nContent-Length: 2',
    'Transfer-Encoding with Content-Length': 'Transfer-Encoding: chunked\r\nContent-Length: 2',
  })) {
    upstream.handle = (socket) => void socket.end(`HTTP/1.1 200 OK\r\n${head}\r\n\r\n[]`, 'latin1');
    const before = upstream.heads.length;
    t.equal((await front.send(request('GET /v1/pets', front.key))).status, 502, name);
    t.equal(upstream.heads.length, before + 1, `${name}: sent once`);
    upstream.handle = (socket) => void socket.write(OK);
    t.equal(await front.good(), 200, `${name}: the next request is served`);
  }
});
