import t from 'tap';
import { startUpstream } from '../servers/upstream.js';
import { startFront } from './front.js';

t.test('an upstream sets no cookie of the pages, and gets no key and no address that its client made up', async (t) => {
  const upstream = await startUpstream(t);
  upstream.handle = (_seen, response) =>
    response
      .writeHead(200, {
        'content-type': 'application/json',
        'set-cookie': ['petgate-console=x; Path=/console', '=petgate-account=x', '__Secure-petgate-console=', 'own=1'],
      })
      .end('[]');
  const front = await startFront(t, upstream.url);
  const token = front.key.slice('Authorization: Bearer '.length);
  const claims = ['Proxy', 'True-Client-IP', 'CF-Connecting-IP', 'X-Client-IP', 'X-Cluster-Client-IP', 'X-Host'];
  const fields = [front.key, `X-Request-Id: ${token}`, ...claims.map((name) => `${name}: 203.0.113.9`)];
  const answer = await front.send(['GET /v1/pets HTTP/1.1', 'Host: x', ...fields, '', ''].join('\r\n'));
  t.equal(answer.status, 200);
  t.equal(answer.headers.get('set-cookie'), 'own=1');
  t.match(answer.headers.get('x-request-id'), /^[0-9a-f]{32}$/);
  t.notMatch(JSON.stringify(upstream.seen), token);
  t.notMatch(JSON.stringify(upstream.seen), /203\.0\.113\.9/);
  await front.idle();
  t.notMatch(front.gateway.program.output(), token, 'and no log has it');
});
