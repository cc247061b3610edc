import { get, type IncomingMessage, type ServerResponse } from 'node:http';
import t from 'tap';
import type { Test } from 'tap';
import { codeOf } from '../../answers/honest.js';
import { request, startFront, type Front } from '../../attacks/front.js';
import { scrape } from '../../servers/exposition.js';
import { startUpstream, type Upstream } from '../../servers/upstream.js';
import { until } from '../../servers/until.js';

/** Once open it stays so, as far as these tests see. */
const TOUCHY = { failures: 1, open: '1h', cap: '1h' };

/** Keeps every request until it is told what becomes of them. */
function hang(service: Upstream): ServerResponse[] {
  const held: ServerResponse[] = [];
  service.handle = (_seen, response) => void held.push(response);
  return held;
}

const add = (front: Front): Promise<string> =>
  front
    .send(`${request('POST /v1/pets', front.key, 'Content-Type: application/json', 'Content-Length: 2')}{}`)
    .then((answer) => (answer.status < 400 ? String(answer.status) : `${answer.status} ${codeOf(answer)}`));

async function figure(front: Front, name: string, labels: Readonly<Record<string, string>> = {}): Promise<number> {
  return (await scrape(front.gateway.adminUrl)).value(name, { upstream: 'pets', ...labels });
}

t.test(
  'who still waits for a connection when the breaker opens is told at once, and nothing of it is sent',
  async (t) => {
    const service = await startUpstream(t);
    const front = await startFront(t, service.url, { pets: { connections: 1, deadline: '60s', breaker: TOUCHY } });
    const held = hang(service);
    const answers = Array.from({ length: 4 }, () => add(front));
    await until(
      'one is there, three wait',
      async () => held.length === 1 && (await figure(front, 'petgate_upstream_queued')) === 3,
    );
    held[0]!.destroy();
    t.strictSame((await Promise.all(answers)).sort(), [
      '502 upstream_failed',
      ...Array<string>(3).fill('503 upstream_unavailable'),
    ]);
    t.equal(service.seen.length, 1);
    t.equal(await figure(front, 'petgate_upstream_failures_total', { kind: 'open' }), 3);
    t.equal(await figure(front, 'petgate_upstream_in_flight'), 0);
  },
);

t.test('with another address those go there, reads and writes alike', async (t) => {
  const services = [await startUpstream(t), await startUpstream(t)] as const;
  const front = await startFront(t, '', {
    pets: { addresses: services.map(({ url }) => url), connections: 1, deadline: '60s', breaker: TOUCHY },
  });
  const [ill, well] = services.map(hang) as [ServerResponse[], ServerResponse[]];
  const answers = Array.from({ length: 6 }, () => add(front));
  await until(
    'each has one, and two wait for it',
    async () => ill.length === 1 && well.length === 1 && (await figure(front, 'petgate_upstream_queued')) === 4,
  );
  ill[0]!.destroy();
  services[1].handle = (_seen, response) => response.end();
  well[0]!.end();
  t.strictSame((await Promise.all(answers)).sort(), [...Array<string>(5).fill('200'), '502 upstream_failed']);
  t.equal(services[0].seen.length, 1);
  t.equal(services[1].seen.length, 5, 'none was sent twice');
});

/** Sends a request that the service holds, and leaves. */
async function leave(front: Front, held: readonly ServerResponse[]): Promise<void> {
  const before = held.length;
  const leaving = new AbortController();
  const send = async (): Promise<number> =>
    (
      await fetch(`${front.gateway.url}/v1/pets`, {
        headers: { authorization: front.key.slice('Authorization: '.length) },
        signal: leaving.signal,
      })
    ).status;
  let left: Promise<unknown> = Promise.resolve();
  // An address that is passed over takes none until a trial is due.
  const again = (): void =>
    void (left = send().then(
      (status) => status === 503 && again(),
      () => 'left',
    ));
  again();
  await until('it is there', () => held.length === before + 1);
  leaving.abort();
  await left;
  await front.idle();
}

t.test('a client that leaves says nothing of the service, neither bad nor good', async (t) => {
  const service = await startUpstream(t);
  const front = await startFront(t, service.url, { pets: { breaker: { failures: 1, open: '10ms', cap: '1h' } } });
  const held = hang(service);
  await leave(front, held);
  t.equal(await figure(front, 'petgate_upstream_open_ratio'), 0);
  service.handle = (_seen, response) => response.destroy();
  t.equal(await add(front), '502 upstream_failed');
  await leave(front, hang(service));
  t.equal(await figure(front, 'petgate_upstream_open_ratio'), 1, 'though that was the trial');
});

t.test('who gets only the rest of a deadline says nothing when it is over', async (t) => {
  const services = [await startUpstream(t), await startUpstream(t)];
  const front = await startFront(t, '', {
    pets: { addresses: services.map(({ url }) => url), deadline: '500ms', breaker: TOUCHY },
  });
  let asked = 0;
  for (const service of services) {
    service.handle = (_seen, response) => {
      asked += 1;
      if (asked === 1) response.destroy();
    };
  }
  t.equal(await front.good(), 504);
  t.equal(asked, 2);
  t.equal(await figure(front, 'petgate_upstream_open_ratio'), 0.5, 'the first broke, the second had no fair chance');
});

t.test('who meets the failure that opens it is told when to come back, too', async (t) => {
  const front = await startFront(t, 'http://127.0.0.1:1', {
    pets: { breaker: { failures: 2, open: '30m', cap: '1h' } },
  });
  t.equal(await figure(front, 'petgate_upstream_up_ratio'), 1, 'nothing is known against it');
  const answer = await front.send(request('GET /v1/pets', front.key));
  t.equal(codeOf(answer), 'upstream_unavailable');
  t.equal(answer.headers.get('retry-after'), '1800');
  t.equal(await figure(front, 'petgate_upstream_up_ratio'), 0);
  t.equal(await figure(front, 'petgate_upstream_failures_total', { kind: 'unreachable' }), 2);
});

t.test('a client that does not take its answer says nothing of the service', async (t) => {
  const service = await startUpstream(t);
  const front = await startFront(t, service.url, {
    pets: { deadline: '1s', breaker: TOUCHY },
    config: { limits: { headers_time: '1s', request_time: '3s' } },
  });
  service.handle = (_seen, response) => response.end(Buffer.alloc(64 * 1024 * 1024));
  const answer = await new Promise<IncomingMessage>((resolve) =>
    get(
      `${front.gateway.url}/v1/pets`,
      { agent: false, headers: { authorization: front.key.slice('Authorization: '.length) } },
      resolve,
    ),
  );
  t.teardown(() => answer.destroy());
  await front.idle();
  t.equal(await figure(front, 'petgate_upstream_failures_total', { kind: 'timeout' }), 0);
  service.handle = (_seen, response) => response.end('[]');
  t.equal(await front.good(), 200);
});

t.test('a trial that hangs does not keep the next from being made', async (t) => {
  const service = await startUpstream(t);
  const front = await startFront(t, service.url, {
    pets: { connections: 200, deadline: '60s', breaker: { failures: 1, open: '50ms', cap: '50ms' } },
  });
  service.handle = (_seen, response) => response.destroy();
  t.equal(await add(front), '502 upstream_failed');
  const held = hang(service);
  const trials: Promise<string>[] = [];
  let refused = 0;
  await until('a trial hangs', () => {
    if (held.length === 0)
      trials.push(add(front).then((answer) => (answer === '200' ? answer : String((refused += 1)))));
    return held.length > 0;
  });
  await until('every other is refused, or hangs as well', () => refused + held.length === trials.length);
  service.handle = (_seen, response) => response.end('[]');
  await until('a later one went well', async () => (await front.good()) === 200);
  for (const response of held) response.end();
  t.equal(
    (await Promise.all(trials)).filter((answer) => answer === '200').length,
    held.length,
    'those that hung have their answers',
  );
  t.equal(await figure(front, 'petgate_upstream_breaker_opened_total'), 1);
});

t.test(
  'an address nobody listens at is left alone after a few, and every request is served by the other',
  async (t) => {
    const service = await startUpstream(t);
    const front = await startFront(t, '', {
      pets: { addresses: ['http://127.0.0.1:1', service.url], breaker: { failures: 3, open: '1h', cap: '1h' } },
    });
    for (let n = 0; n < 20; n += 1) t.equal(await add(front), '200');
    t.equal(await figure(front, 'petgate_upstream_failures_total', { kind: 'unreachable' }), 3);
    t.equal(await figure(front, 'petgate_upstream_open_ratio'), 0.5);
    t.equal(await figure(front, 'petgate_upstream_up_ratio'), 0.5);
    await saysSo(t, front);
  },
);

async function saysSo(t: Test, { gateway }: Front): Promise<void> {
  t.match((await gateway.admin('GET', '/readyz')).body, {
    parts: { 'upstream:pets': { ok: true, detail: '1 of 2 addresses up' } },
  });
  const line = await gateway.program.logged(
    'requests to this address fail: it is passed over, except for occasional trials',
  );
  t.match(line, { level: 'warn', upstream: 'pets', address: 'http://127.0.0.1:1', failure: 'unreachable' });
}

t.test('a service that refuses, or fails by itself, answers: nothing is passed over', async (t) => {
  const service = await startUpstream(t);
  const front = await startFront(t, service.url, { pets: { breaker: TOUCHY } });
  for (const [status, seen] of [
    [401, 502],
    [403, 502],
    [429, 502],
    ...[404, 500, 502, 503, 504].map((status) => [status, status] as const),
  ] as const) {
    service.handle = (_seen, response) => response.writeHead(status, { 'content-type': 'application/json' }).end('{}');
    for (let n = 0; n < 3; n += 1) t.equal(await front.good(), seen, `${status}`);
  }
  t.equal(service.seen.length, 24, 'every request reached it');
  t.equal(await figure(front, 'petgate_upstream_breaker_opened_total'), 0);
});
