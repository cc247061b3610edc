import t, { type Test } from 'tap';
import { scrape } from '../servers/exposition.js';
import { until } from '../servers/until.js';
import { request, startFront, type Front } from './front.js';
import { OK, startRawUpstream } from './raw-upstream.js';

const okFor = (id: string, more = ''): string => OK.replace('\r\n\r\n', `\r\nX-Request-Id: ${id}${more}\r\n\r\n`);

/** What operators see of the one request with this id: the log's reason, and what `why` says. */
async function seenOf({ gateway }: Front, id: string) {
  const lines = () => gateway.program.lines().filter(({ msg, request }) => msg === 'exchange' && request === id);
  await until('it is logged', () => lines().length === 1);
  const { body } = await gateway.admin('GET', `/admin/v1/exchanges/${id}`);
  const [found] = (body as { exchanges: readonly { reason: string | null; setting: string | null }[] }).exchanges;
  return { logged: lines()[0]!['reason'], reason: found?.reason, setting: found?.setting };
}

async function start(t: Test, more: Readonly<Record<string, unknown>> = {}) {
  const upstream = await startRawUpstream(t);
  const front = await startFront(t, upstream.url, { pets: { connections: 1, breaker: 'off', ...more } });
  let asked = 0;
  const ask = async (): Promise<{ id: string; status: number }> => {
    const id = `request-${(asked += 1)}`;
    const { status } = await front.send(request('GET /v1/pets', front.key, `X-Request-Id: ${id}`));
    return { id, status };
  };
  return { upstream, front, ask };
}

t.test('a 502 has its reason in log, metrics and why', async (t) => {
  const { upstream, front, ask } = await start(t);
  const head = 'HTTP/1.1 200 OK\r\n';
  const broken: Readonly<Record<string, readonly [bytes: string, reason: RegExp, setting: string | null]>> = {
    content_length_twice: [`${head}Content-Length: 2\r\nContent-Length: 2\r\n\r\n[]`, /^Content-Length twice$/, null],
    head_too_large: [`${head}X: ${'x'.repeat(16_384)}\r\n\r\n`, /above/, 'upstreams.pets.response_head'],
    too_many_fields: [`${head}${'X: y\r\n'.repeat(257)}\r\n`, /more fields/, 'upstreams.pets.response_fields'],
    line_end_invalid: [`${head}A: b\nContent-Length: 2\r\n\r\n[]`, /CRLF/, null],
    length_and_encoding: [`${head}Content-Length: 2\r\nTransfer-Encoding: chunked\r\n\r\n`, /together/, null],
    not_http: ['SSH-2.0-OpenSSH_9.2\r\n', /no HTTP/, null],
    response_cut: [`${head}Content-Length: 9\r\n\r\n[]`, /middle/, null],
    connection_closed: ['', /closed before/, null],
    status_refused: [OK.replace('200 OK', '403 Forbidden'), /about the gateway/, 'upstreams.pets.errors'],
  };
  for (const [code, [bytes, reason, setting]] of Object.entries(broken)) {
    upstream.handle = (socket) => void socket.end(bytes, 'latin1');
    const { id, status } = await ask();
    t.equal(status, 502, code);
    const seen = await seenOf(front, id);
    t.equal(seen.logged, code);
    t.match(seen.reason, reason, code);
    t.equal(seen.setting ?? null, setting, code);
    const metrics = await scrape(front.gateway.adminUrl);
    t.equal(metrics.value('petgate_upstream_unusable_total', { upstream: 'pets', reason: code }), 1, code);
  }
});

t.test('both bounds of a head are settings', async (t) => {
  const { upstream, ask } = await start(t, { response_head: '64KiB', response_fields: 1_000 });
  upstream.handle = (socket) =>
    void socket.write(OK.replace('\r\n\r\n', `\r\nX: ${'x'.repeat(40_000)}\r\n${'Y: y\r\n'.repeat(900)}\r\n`));
  t.equal((await ask()).status, 200);
});

t.test('a late response to an earlier request is nobody else’s', async (t) => {
  const { upstream, front, ask } = await start(t);
  const idIn = (head: string): string => /^x-request-id: (.*)$/im.exec(head)![1]!;
  upstream.handle = (socket, head) => void socket.write(okFor(idIn(head)));
  const first = await ask();
  t.equal((await ask()).status, 200, 'its own id');
  const sockets = new Set(upstream.sockets);
  upstream.handle = (socket) => void socket.write(okFor(first.id));
  const late = await ask();
  t.equal(late.status, 502);
  t.match(await seenOf(front, late.id), { logged: 'other_request', reason: /earlier request/ });
  await until('that connection is closed', () => [...sockets].every((socket) => !upstream.sockets.has(socket)));

  upstream.handle = (socket) => void socket.write(okFor('an-id-of-its-own'));
  for (let n = 0; n < 3; n += 1) t.equal((await ask()).status, 200, 'an upstream may have ids of its own');
  upstream.handle = (socket) => void socket.write(okFor(late.id, '\r\nAge: 7'));
  for (let n = 0; n < 3; n += 1) t.equal((await ask()).status, 200, 'and a cache those of others');
});
