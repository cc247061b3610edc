import t from 'tap';
import { listen } from '../listener.js';

t.test('the listener answers to addresses, names of inside and those it was given; 421 names any other', async (t) => {
  const { ask } = await listen(t, { hosts: ['Gateway-1.Example.com'] });
  const status = async (host: string, path = '/livez'): Promise<number> =>
    (await ask('GET', path, undefined, { host })).status;
  for (const host of [
    ...[
      '127.0.0.1',
      '127.0.0.1:9090',
      '[::1]:9090',
      '[fe80::1]',
      'localhost',
      'LOCALHOST:1',
      'gateway',
      'gateway_1:9090',
    ],
    ...['gateway.petgate.svc', 'gateway.petgate.svc.cluster.local.', 'ip-10-0-0-1.eu-west-1.compute.internal:9090'],
    ...['gateway-1.example.com', 'gateway-1.EXAMPLE.com:9090'],
  ])
    t.equal(await status(host), 200, host);
  for (const host of [
    ...[
      'rebound.example.com',
      'rebound.example.com:9090',
      'gateway-2.example.com',
      'local.example',
      'svc.example.org.',
    ],
    ...['127.0.0.1.example.com', 'x.local.example.com', 'a@localhost', 'xlocal.evil-internal.com', '.internal', '"'],
  ])
    for (const path of ['/livez', '/metrics', '/admin/v1/keys', '/%'])
      t.equal(await status(host, path), 421, host + path);
  t.match((await ask('GET', '/metrics', undefined, { host: 'rebound.example.com:80' })).json, {
    code: 'unknown_host',
    message: /does not know the host name "rebound\.example\.com"\. .* admin\.hosts/,
    status: 421,
  });
});
