import type { ServerResponse } from 'node:http';
import t from 'tap';
import type { Test } from 'tap';
import { startFront, startHttp2Front, type Front } from '../../attacks/front.js';
import { scrape } from '../../servers/exposition.js';
import { startUpstream, type Upstream } from '../../servers/upstream.js';
import { follow } from './follow.js';
import { until } from '../../servers/until.js';

const EVENTS = { 'content-type': 'text/event-stream; charset=utf-8' };

const timeouts = async ({ gateway }: Front): Promise<number> =>
  (await scrape(gateway.adminUrl)).value('petgate_upstream_failures_total', { upstream: 'pets', kind: 'timeout' });

const listen = (t: Test, front: Front): ReturnType<typeof follow> => follow(t, front, '/v1/pets');

/** An upstream that sends the head of a stream, and what the test says from then on. */
async function startEvents(t: Test): Promise<{ upstream: Upstream; open: ServerResponse[] }> {
  const upstream = await startUpstream(t);
  const open: ServerResponse[] = [];
  upstream.handle = (_seen, response) => {
    response.writeHead(200, EVENTS).flushHeaders();
    open.push(response);
  };
  return { upstream, open };
}

t.test('events pass one by one, the head before the first, longer than any deadline', async (t) => {
  const { upstream, open } = await startEvents(t);
  const front = await startFront(t, upstream.url, { pets: { deadline: '1s' } });
  const stream = await listen(t, front);
  t.equal(stream.answer.headers['content-type'], EVENTS['content-type']);
  t.ok(stream.answer.headers['x-ratelimit-limit'], 'with our figures');
  t.equal(stream.text, '');
  const begunMs = performance.now();
  let sent = '';
  while (performance.now() - begunMs < 1_500) {
    sent += 'data: woof\n\n';
    open[0]!.write('data: woof\n\n');
    await until('it came, and nothing is held', () => stream.text === sent);
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
  open[0]!.end();
  await until('it ended in order', () => stream.end === 'ended');
  t.equal(await timeouts(front), 0);
});

t.test('a stream that is silent for too long is cut', async (t) => {
  const { upstream, open } = await startEvents(t);
  const silent = await startFront(t, upstream.url, { pets: { idle: '100ms' } });
  const stream = await listen(t, silent);
  open[0]!.write('data: last\n\n');
  await until('it is cut', () => stream.end === 'cut');
  t.equal(stream.text, 'data: last\n\n');
  t.equal(await timeouts(silent), 1);
});

t.test('a stream ends with its key', async (t) => {
  const { upstream, open } = await startEvents(t);
  const front = await startFront(t, upstream.url);
  const stream = await listen(t, front);
  await front.gateway.admin('DELETE', `/admin/v1/keys/${front.keyId}`);
  const talk = setInterval(() => open[0]!.write('data: more\n\n'), 100);
  t.teardown(() => clearInterval(talk));
  await until('it is cut', () => stream.end === 'cut');
  await front.idle();
});

t.test('over HTTP/2 too', async (t) => {
  const { upstream, front } = await startHttp2Front(t, { pets: { deadline: '1s' } });
  const { connect } = await import('node:http2');
  const session = connect(front.gateway.url, { rejectUnauthorized: false });
  t.teardown(() => session.destroy());
  const open: ServerResponse[] = [];
  upstream.handle = (_seen, response) => {
    response.writeHead(200, EVENTS).flushHeaders();
    open.push(response);
  };
  const stream = session.request({ ':path': '/v1/pets', authorization: front.key.slice('Authorization: '.length) });
  let text = '';
  stream.setEncoding('utf8').on('data', (piece: string) => (text += piece));
  let status: number | undefined;
  stream.on('response', (headers) => (status = headers[':status']));
  await until('the head is there', () => status === 200);
  await new Promise((resolve) => setTimeout(resolve, 1_500));
  open[0]!.write('data: woof\n\n');
  await until('the event came', () => text === 'data: woof\n\n');
});
