import type { lookup } from 'node:dns';
import { createServer, type AddressInfo } from 'node:net';
import { once } from 'node:events';
import t from 'tap';
import type { Test } from 'tap';
import type { Message } from '../../../src/gateway/events/message.js';
import { createSender, customersReach, operatorsReach, type Outcome } from '../../../src/gateway/events/send.js';
import { startReceiver } from '../../servers/receiver.js';
import { until } from '../../servers/until.js';

const MESSAGE = { headers: { 'content-type': 'application/cloudevents+json', 'webhook-id': 'x' }, body: '{"id":"x"}' };

/** A sender that knows where to. */
function senderTo(t: Test, url: string, more: Partial<Parameters<typeof createSender>[0]> = {}) {
  const sender = createSender({ reach: operatorsReach(true), timeoutMs: 20_000, ...more });
  t.teardown(() => sender.close());
  return { send: (message: Message) => sender.send(url, message), close: () => sender.close() };
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
    reason: 'no answer within 0.2 s',
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
    const reach = operatorsReach(false);
    const outcome: Outcome = await senderTo(t, `http://${host}:${port}/`, { reach }).send(MESSAGE);
    t.match(outcome, { kind: 'failed', reason: /^its address \S+ is local, and PETGATE_EVENTS_ALLOW_LOCAL/ }, host);
  }
  t.equal(connections(), 0);
});

t.test('customers reach inside what they are given and no more, and are not told what a name leads to', async (t) => {
  const { port, connections } = await trap(t);
  const reason = 'it leads where no webhook of a customer may, by events.customer_networks';
  for (const reach of [customersReach([]), customersReach(['10.0.0.0/8', '127.0.0.2'])])
    for (const scheme of ['http', 'https'])
      for (const host of LOCAL) {
        const outcome = await senderTo(t, `${scheme}://${host}:${port}/`, { reach }).send(MESSAGE);
        t.same(outcome, { kind: 'failed', reason }, `${scheme} ${host}`);
      }
  t.equal(connections(), 0);
  const reach = customersReach([]);
  t.ok(reach.allows('93.184.216.34', true));
  t.notOk(reach.allows('93.184.216.34', false), 'plain HTTP is for what is inside');
});

t.test('a name is checked by what it leads to at each connection, and a redirect leads nowhere', async (t) => {
  const elsewhere = await startReceiver(t);
  const receiver = await startReceiver(t, (response, { path }) =>
    path === '/moved' ? response.writeHead(307, { location: elsewhere.url }).end() : response.end().destroy(),
  );
  let leadsTo = '127.0.0.1';
  const resolve = ((_host: string, _options: unknown, found: (error: null, addresses: readonly object[]) => void) =>
    found(null, [{ address: leadsTo, family: 4 }])) as unknown as typeof lookup;
  const reach = customersReach(['127.0.0.1/32']);
  const url = `http://hooks.shop.example:${receiver.port}`;
  t.same(await senderTo(t, `${url}/moved`, { reach, resolve }).send(MESSAGE), {
    kind: 'failed',
    reason: 'it answered 307',
  });
  const sender = senderTo(t, `${url}/hook`, { reach, resolve });
  t.same(await sender.send(MESSAGE), { kind: 'delivered' });
  await until('the connection is gone', () => receiver.received.length === 2);
  leadsTo = '127.0.0.3';
  await until('it is dialled anew', async () => {
    const outcome = await sender.send(MESSAGE);
    return outcome.kind === 'failed' && outcome.reason.startsWith('it leads where no webhook of a customer may');
  });
  t.equal(elsewhere.received.length, 0);
});
