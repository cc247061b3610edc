import type { ServerResponse } from 'node:http';
import t from 'tap';
import type { Test } from 'tap';
import { checkHonest, codeOf } from '../answers/honest.js';
import { ledgerOf } from '../e2e/ledger.js';
import { ownCertificate } from '../servers/certificate.js';
import { answerOf, openHttp2 } from '../servers/http2.js';
import { openLine, statusesOf, type Line } from '../servers/raw.js';
import { storeOf } from '../servers/redis.js';
import { startUpstream } from '../servers/upstream.js';
import { until } from '../servers/until.js';
import { metricOf, request, startFront, type Front } from './front.js';

interface Stage {
  readonly front: Front;
  /** What the service has not answered yet; it answers GET at once unless `isHolding`. */
  readonly held: ServerResponse[];
  isHolding: boolean;
  /** Sends what stays open, and gives what came. */
  readonly begin: (bytes: string) => Line;
  /** The gateway refuses with this code, says so honestly, and the ledger does not move. */
  readonly refuses: (code: string, bytes: string) => Promise<void>;
  readonly counted: () => Promise<number>;
}

async function stage(t: Test, limits: Readonly<Record<string, unknown>>): Promise<Stage> {
  const service = await startUpstream(t);
  const front = await startFront(t, service.url, { config: { limits: { body_size: '1KiB', ...limits } } });
  const held: ServerResponse[] = [];
  service.handle = (_seen, response) => {
    if (at.isHolding) held.push(response);
    else response.end('[]');
  };
  const counted = async (): Promise<number> => (await ledgerOf(front.gateway, front.keyId)).requests;
  const at: Stage = {
    front,
    held,
    isHolding: false,
    counted,
    begin: (bytes) => openLine(t, front.target, bytes),
    refuses: async (code, bytes) => {
      const before = await counted();
      const answer = await front.send(bytes);
      t.equal(codeOf(answer), code);
      checkHonest(t, answer, code);
      t.equal(await counted(), before, `${code} costs nothing`);
    },
  };
  return at;
}

const post = (front: Front, ...fields: readonly string[]): string =>
  request('POST /v1/pets', front.key, 'Content-Type: application/json', ...fields);

t.test('a body that is too large costs nothing, where it is known before it is asked for', async (t) => {
  const { front, refuses, counted, begin } = await stage(t, {});
  await refuses('body_too_large', post(front, 'Content-Length: 1025'));
  const chunk = (bytes: number): string => `${bytes.toString(16)}\r\n${'x'.repeat(bytes)}\r\n`;
  await refuses('body_too_large', `${post(front, 'Transfer-Encoding: chunked')}${chunk(1025)}0\r\n\r\n`);
  t.equal((await front.send(`${post(front, 'Content-Length: 1024')}${'x'.repeat(1024)}`)).status, 200);
  t.equal(await counted(), 1);
  const slow = begin(`${post(front, 'Transfer-Encoding: chunked')}${chunk(1000)}`);
  await until('it is admitted', async () => (await counted()) === 2);
  slow.socket.write(chunk(1000));
  await until('it is refused', () => slow.text().startsWith('HTTP/1.1 413'));
  t.equal(await counted(), 2, 'one that tells its length by and by was admitted before');
});

t.test('a body for which there is no place, or no room, costs nothing', async (t) => {
  for (const limits of [{ waiting: 1 }, { bodies_size: '1KiB', caller_share: 1 }, { bodies_size: '4KiB' }]) {
    const { front, refuses, counted, begin } = await stage(t, limits);
    const first = begin(`${post(front, 'Content-Length: 1000')}{`);
    await until('it is admitted', async () => (await counted()) === 1);
    await refuses('overloaded', `${post(front, 'Content-Length: 1000')}{`);
    await refuses('overloaded', `${post(front, 'Transfer-Encoding: chunked')}1\r\n{\r\n`);
    first.socket.write('x'.repeat(999));
    await until('the first is served', () => first.text().startsWith('HTTP/1.1 200'));
    const [last] = [begin(`${post(front, 'Transfer-Encoding: chunked')}1\r\n{\r\n`)];
    await until('and leaves its room', async () => (await counted()) === 2);
    last.socket.write('0\r\n\r\n');
    await until('which the next one has', () => last.text().startsWith('HTTP/1.1 200'));
  }
});

t.test('with as many exchanges as may be the next costs nothing; a body that was let in is served', async (t) => {
  const at = await stage(t, { exchanges: 1 });
  const { front, refuses, counted, begin, held } = at;
  const slow = begin(`${post(front, 'Content-Length: 2')}{`);
  await until('it is admitted', async () => (await counted()) === 1);
  at.isHolding = true;
  const other = begin(request('GET /v1/pets', front.key));
  await until('another is worked on', () => held.length === 1);
  await refuses('overloaded', request('GET /v1/pets', front.key));
  slow.socket.write('}');
  await until('its body is there', () => held.length === 2);
  for (const response of held) response.end('[]');
  await until('both are served', () => [slow, other].every(({ text }) => text().startsWith('HTTP/1.1 200')));
  t.match(await ledgerOf(front.gateway, front.keyId), { requests: 2, failed: 0 });
});

t.test('over HTTP/2 as well', async (t) => {
  const service = await startUpstream(t);
  const front = await startFront(t, service.url, {
    config: { limits: { body_size: '1KiB', waiting: 1 } },
    tls: ownCertificate(t),
  });
  const client = openHttp2(t, front.target);
  const ask = { method: 'POST', key: front.key };
  const fields = { 'content-length': '1024' };
  t.equal((await answerOf(client.begin({ ...ask, fields: { 'content-length': '1025' } }, false))).status, 413);
  t.equal((await client.send({ ...ask, body: 'x'.repeat(1024) })).status, 200);
  const slow = client.begin({ ...ask, fields }, false);
  await until('a body is awaited', async () => (await metricOf(front.gateway, 'petgate_exchanges_waiting')) === 1);
  t.equal((await answerOf(client.begin({ ...ask, fields }, false))).status, 503);
  t.equal((await ledgerOf(front.gateway, front.keyId)).requests, 2);
  slow.end('x'.repeat(1024));
  t.equal((await answerOf(slow)).status, 200);
  t.equal((await ledgerOf(front.gateway, front.keyId)).requests, 2);
});

/** Of an upstream with one connection: that, and four that wait for it. */
const PLACES = 5;

for (const engine of ['embedded', 'redis'])
  t.test(
    `no place, no room, a full upstream, a body too large: none is charged, over HTTP/1 and 2 (${engine})`,
    async (t) => {
      const service = await startUpstream(t);
      const front = await startFront(t, service.url, {
        config: { log: { access: true }, limits: { body_size: '1KiB', waiting: 1 } },
        pets: { connections: 1, deadline: '60s' },
        tls: ownCertificate(t),
        environment: await storeOf(t, engine),
      });
      const held: ServerResponse[] = [];
      service.handle = (_seen, response) => void held.push(response);
      const client = openHttp2(t, front.target);
      const { gateway, key, keyId } = front;
      const counted = async (): Promise<number> => (await ledgerOf(gateway, keyId)).requests;
      const slow = client.begin({ method: 'POST', key, fields: { 'content-length': '1024' } }, false);
      await until('a body is awaited', async () => (await metricOf(gateway, 'petgate_exchanges_waiting')) === 1);
      const served = Array.from({ length: PLACES }, () => client.send({ key }));
      await until('its upstream is full', async () => (await counted()) === 1 + PLACES);

      const refused = [
        [503, 'GET', ''],
        [503, 'POST', '1024'],
        [413, 'POST', '1025'],
      ] as const;
      for (const [status, method, length] of refused) {
        const fields = length === '' ? [] : ['Content-Type: application/json', `Content-Length: ${length}`];
        const first = await front.send(request(`${method} /v1/pets`, key, ...fields));
        t.equal(first.status, status);
        checkHonest(t, first, `${method} ${length}`);
        const ask = { method, key, fields: length === '' ? {} : { 'content-length': length } };
        t.equal((await answerOf(client.begin(ask, length === ''))).status, status);
      }
      t.equal(await counted(), 1 + PLACES, 'the ledger has what was let in');
      const lines = (): readonly Readonly<Record<string, unknown>>[] =>
        gateway.program.lines().filter(({ msg, status }) => msg === 'exchange' && Number(status) >= 400);
      await until('each refusal is in the access log', () => lines().length === 2 * refused.length);
      t.same(new Set(lines().map(({ counted }) => counted)), new Set([false]));

      service.handle = (_seen, response) => response.end('[]');
      for (const response of held) response.end('[]');
      slow.end('x'.repeat(1024));
      t.equal((await answerOf(slow)).status, 200);
      t.same(statusesOf(await Promise.all(served)), Array<number>(PLACES).fill(200));
      t.match(await ledgerOf(gateway, keyId), { requests: 1 + PLACES, failed: 0 });
    },
  );
