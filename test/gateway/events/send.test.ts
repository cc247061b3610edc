import type { lookup } from 'node:dns';
import { createServer, type AddressInfo } from 'node:net';
import { once } from 'node:events';
import t from 'tap';
import type { Test } from 'tap';
import { createSender, type Outcome } from '../../../src/gateway/events/send.js';
import { startReceiver } from '../../servers/receiver.js';
import { until } from '../../servers/until.js';

const MESSAGE = { headers: { 'content-type': 'application/cloudevents+json', 'webhook-id': 'x' }, body: '{"id":"x"}' };

function senderTo(t: Test, url: string, more: Partial<Parameters<typeof createSender>[0]> = {}) {
  const sender = createSender({ url, allowLocal: true, timeoutMs: 20_000, ...more });
  t.teardown(() => sender.close());
  return sender;
}

t.test('2xx is delivered, 410 is gone, all else has failed; a redirect is not followed', async (t) => {
  let status = 200;
  const elsewhere = await startReceiver(t);
  const receiver = await startReceiver(t, (response) =>
    response.writeHead(status, { location: elsewhere.url }).end('a secret of the receiver'),
  );
  const sender = senderTo(t, receiver.url);
  for (const [given, outcome] of [
    [200, { kind: 'delivered' }],
    [204, { kind: 'delivered' }],
    [301, { kind: 'failed', reason: 'it answered 301' }],
    [307, { kind: 'failed', reason: 'it answered 307' }],
    [400, { kind: 'failed', reason: 'it answered 400' }],
    [410, { kind: 'gone' }],
    [503, { kind: 'failed', reason: 'it answered 503' }],
  ] as const) {
    status = given;
    t.same(await sender.send(MESSAGE), outcome, String(given));
  }
  t.equal(elsewhere.received.length, 0);
  t.match(receiver.received[0], { path: '/hook?from=petgate', body: MESSAGE.body, headers: MESSAGE.headers });
});

t.test('a receiver that hangs, cuts, or is not there has failed', async (t) => {
  const hung = await startReceiver(t, () => undefined);
  t.same(await senderTo(t, hung.url, { timeoutMs: 200 }).send(MESSAGE), {
    kind: 'failed',
    reason: 'no response within 0.2 s',
  });
  const endless = await startReceiver(t, (response) => response.writeHead(200).write('x'));
  t.same(
    await senderTo(t, endless.url, { timeoutMs: 1_000 }).send(MESSAGE),
    { kind: 'delivered' },
    'the status is there',
  );
  const cutting = await startReceiver(t, (response) => response.destroy());
  t.match(await senderTo(t, cutting.url).send(MESSAGE), { kind: 'failed', reason: /^no answer: UND_ERR_SOCKET$/ });
  t.same(await senderTo(t, 'http://127.0.0.1:1/').send(MESSAGE), {
    kind: 'failed',
    reason: 'no answer: ECONNREFUSED',
  });
});

t.test('what is under way when it is closed has not failed', async (t) => {
  const hung = await startReceiver(t, () => undefined);
  const sender = senderTo(t, hung.url);
  const sent = sender.send(MESSAGE);
  await until('it is under way', () => hung.received.length === 1);
  await sender.close();
  t.same(await sent, { kind: 'stopped' });
});

/** A port on which nothing is ever sent to anybody, and how many have connected. */
async function trap(t: Test): Promise<{ readonly port: number; readonly connections: () => number }> {
  let connections = 0;
  const server = createServer((socket) => ((connections += 1), socket.destroy())).listen(0, '::');
  await once(server, 'listening');
  t.teardown(() => server.close());
  return { port: (server.address() as AddressInfo).port, connections: () => connections };
}

const LOCAL = ['127.0.0.1', 'localhost', '[::1]', '[::ffff:127.0.0.1]', '0.0.0.0', '2130706433', '127.1'];

t.test('a local address is refused before anything is sent, as a name too', async (t) => {
  const { port, connections } = await trap(t);
  for (const host of LOCAL) {
    const outcome: Outcome = await senderTo(t, `http://${host}:${port}/`, { allowLocal: false }).send(MESSAGE);
    t.match(outcome, { kind: 'failed', reason: /^its address \S+ is local, and PETGATE_EVENTS_ALLOW_LOCAL/ }, host);
  }
  t.equal(connections(), 0);
});

t.test('a name is refused by what it leads to when it is dialled, if only one of its addresses is local', async (t) => {
  const { port, connections } = await trap(t);
  const addresses = ['93.184.216.34', '127.0.0.1'].map((address) => ({ address, family: 4 }));
  const resolve = ((_host: string, _options: unknown, found: (error: null, addresses: readonly object[]) => void) =>
    found(null, addresses)) as unknown as typeof lookup;
  const sender = senderTo(t, `http://hooks.shop.example:${port}`, { allowLocal: false, resolve });
  t.match(await sender.send(MESSAGE), { kind: 'failed', reason: /^its address 127\.0\.0\.1 is local/ });
  t.equal(connections(), 0);
});
