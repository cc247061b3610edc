import t from 'tap';
import { startGateway } from '../servers/gateway.js';
import { scrape } from '../servers/exposition.js';
import { exchangeRaw } from '../servers/raw.js';
import { handshake, KEY, openTunnel, type TunnelClient } from '../servers/tunnel.js';
import { startTunnelFront } from '../servers/tunnel-front.js';
import { until } from '../servers/until.js';
import { startWebSocketUpstream } from '../servers/websocket.js';
import { checkHonest, codeOf } from './honest.js';

const upstream = await startWebSocketUpstream(t);
const front = await startTunnelFront(t, { addresses: [upstream.url] });

t.test(
  'a handshake is refused as any request is: with figures, an Error body, and the end of the connection',
  async (t) => {
    const writer = await front.gateway.createKey({ plan: 'free', scopes: ['pets:write'] });
    const tiny = await front.gateway.createKey({ plan: 'tiny' });
    const tinyKey = `Authorization: Bearer ${tiny.key}`;
    const check = async (
      name: string,
      { answer, closed }: TunnelClient,
      status: number,
      code: string,
    ): Promise<void> => {
      t.equal(answer.status, status, `${name}: ${status}`);
      t.equal(codeOf(answer), code, `${name}: ${code}`);
      checkHonest(t, answer, name);
      t.equal(answer.headers.get('connection'), 'close', `${name}: says that it closes`);
      await until(`${name}: the connection is closed`, closed);
    };
    await check('no key', await front.open(), 401, 'missing_api_key');
    await check('an invalid key', await front.open('Authorization: Bearer nonsense'), 401, 'invalid_api_key');
    await check('no scope', await front.open(`Authorization: Bearer ${writer.key}`), 403, 'insufficient_scope');
    t.equal((await front.open(tinyKey)).answer.status, 101);
    await check('one too many', await front.open(tinyKey), 429, 'rate_limited');
    await check('another', await front.open(tinyKey), 429, 'rate_limited');
    await check('the third starts a ban', await front.open(tinyKey), 429, 'key_banned');
    for (const [name, fields] of Object.entries({
      'a second key of the handshake': [`Sec-WebSocket-Key: ${KEY}`],
      'a second version': ['Sec-WebSocket-Version: 8'],
    }))
      await check(name, await front.open(front.key, ...fields), 400, 'malformed_handshake');
    const good = handshake('/v1/pets/watch', front.key);
    for (const [name, bytes] of Object.entries({
      'no handshake key': good.replace(/Sec-WebSocket-Key: .*\r\n/, ''),
      'a short handshake key': good.replace(KEY, 'dGhl'),
      'a handshake key that is no base64': good.replace(KEY, 'dGhlIHNhbXBsZSBub25jZ*=='),
      'no version': good.replace(/Sec-WebSocket-Version: .*\r\n/, ''),
      'an old version': good.replace('Version: 13', 'Version: 8'),
      'bytes behind it': `${good}GET /v1/pets HTTP/1.1\r\nHost: x\r\n\r\n`,
    })) {
      const client = await openTunnel(t, front.port, bytes);
      await check(name, client, 400, 'malformed_handshake');
      t.equal(client.answer.headers.get('sec-websocket-version'), '13', `${name}: names the right version`);
    }
    t.equal(upstream.seen.length, 1, 'only the one that was admitted reached the service');
  },
);

t.test('an unknown path and a path without GET answer a handshake 404 and 405', async (t) => {
  for (const [bytes, status] of [
    [handshake('/v1/cats', front.key), 404],
    [handshake('/v1/pets/watch', front.key).replace('GET', 'DELETE'), 405],
  ] as const) {
    const { answer } = await openTunnel(t, front.port, bytes);
    t.equal(answer.status, status);
    checkHonest(t, answer, String(status));
  }
});

t.test('a service that is unavailable, silent or full of nonsense is 503, 504 and 502', async (t) => {
  const upstream = await startWebSocketUpstream(t);
  const front = await startTunnelFront(t, { addresses: [upstream.url], pets: { deadline: '2s', breaker: 'off' } });
  const refused = async (name: string, status: number, code: string): Promise<void> => {
    const { answer, closed } = await front.open(front.key);
    t.equal(answer.status, status, name);
    t.equal(codeOf(answer), code, name);
    checkHonest(t, answer, name);
    await until(`${name}: closed`, closed);
  };
  upstream.handle = () => undefined;
  await refused('silent', 504, 'upstream_timeout');
  upstream.handle = ({ socket }) => socket.destroy();
  await refused('hangs up', 502, 'upstream_failed');
  upstream.handle = ({ socket }) => void socket.end('rubbish\r\n\r\n');
  await refused('rubbish', 502, 'upstream_failed');
  upstream.handle = ({ socket }) =>
    void socket.write(
      'HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Accept: ' +
        'c29tZWJvZHkgZWxzZSdzIGtleQ==\r\n\r\n',
    );
  await refused('accepts another handshake', 502, 'upstream_failed');
  upstream.handle = ({ socket }) =>
    void socket.write('HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: h2c\r\n\r\n');
  await refused('switches to something else', 502, 'upstream_failed');
  upstream.handle = ({ socket }) => void socket.write('HTTP/1.1 101 Switching Protocols\r\n\r\n');
  await refused('switches to nothing', 502, 'upstream_failed');
  for (const status of [401, 403, 429]) {
    upstream.handle = ({ socket }) => void socket.end(`HTTP/1.1 ${status} No\r\nContent-Length: 0\r\n\r\n`);
    await refused(`says ${status} about the gateway`, 502, 'upstream_failed');
  }
  await until('no connection to the service is left', () => upstream.sockets.size === 0);
  const metrics = await scrape(front.gateway.adminUrl);
  for (const [reason, count] of Object.entries({ handshake_refused: 2, protocol_switched: 1, status_refused: 3 }))
    t.equal(metrics.value('petgate_upstream_unusable_total', { upstream: 'pets', reason }), count, reason);

  const away = await startTunnelFront(t, { addresses: ['http://127.0.0.1:1'] });
  const { answer } = await away.open(away.key);
  t.equal(answer.status, 503);
  t.equal(codeOf(answer), 'upstream_unavailable');
  checkHonest(t, answer, 'away');
});

t.test('without a contract that says so, no path takes a handshake', async (t) => {
  const upstream = await startWebSocketUpstream(t);
  const gateway = await startGateway(t, { environment: { PETS_URL: upstream.url } });
  const { key } = await gateway.createKey({ plan: 'free' });
  const [answer] = await exchangeRaw(gateway.port, handshake('/v1/pets', `Authorization: Bearer ${key}`), 1);
  t.equal(answer?.status, 426, 'the plain answer of the service');
  t.same([upstream.plain, upstream.seen], [['GET /v1/pets'], []], 'which saw a plain request');
});
