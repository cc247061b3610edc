import { writeFileSync } from 'node:fs';
import type { ServerResponse } from 'node:http';
import { join } from 'node:path';
import t from 'tap';
import type { Test } from 'tap';
import { scrape } from '../servers/exposition.js';
import { startGateway, type Gateway } from '../servers/gateway.js';
import { NO_BAN } from '../servers/plans.js';
import { temporaryFolder } from '../servers/program.js';
import { storeOf } from '../servers/redis.js';
import { until } from '../servers/until.js';
import { startUpstream, type Upstream } from '../servers/upstream.js';

const JSON_TYPE = { 'content-type': 'application/json' };
const EVENTS = { 'content-type': 'text/event-stream' };
const TOKENS = { hold: 40, from: { json: '/usage/total_tokens' } };
const CONTRACT = {
  openapi: '3.0.3',
  paths: {
    '/header': {
      get: { operationId: 'header', 'x-petgate': { cost: { hold: 40, from: { header: 'X-Usage-Units' } } } },
    },
    '/json': { get: { operationId: 'json', 'x-petgate': { cost: TOKENS } } },
    '/free': { get: { operationId: 'free', 'x-petgate': { cost: { ...TOKENS, missing: 'nothing' } } } },
    '/bytes': { get: { operationId: 'bytes', 'x-petgate': { cost: { hold: 40, from: { bytes: 100 } } } } },
    '/priced': { get: { operationId: 'priced', 'x-petgate': { cost: TOKENS } } },
    '/said': {
      get: {
        operationId: 'said',
        'x-petgate': { cost: { ...TOKENS, hold: { query: 'max', default: 40, max: 60 } } },
      },
    },
  },
};
const PLANS = {
  free: { limits: { minute: 100, day: 1_000, month: 5_000 }, ban: NO_BAN, operations: { priced: { cost: 3 } } },
  anonymous: { limits: { minute: 10, day: 10 }, ban: NO_BAN },
};

interface Place {
  readonly gateway: Gateway;
  readonly upstream: Upstream;
  /** What the upstream does next. */
  answer: (response: ServerResponse) => void;
}

const usage = (tokens: unknown): string => JSON.stringify({ id: 'x', usage: { total_tokens: tokens } });
const json =
  (body: string, status = 200) =>
  (response: ServerResponse): void =>
    void response.writeHead(status, JSON_TYPE).end(body);

/** @param address of the upstream that is asked; that of `place.upstream` when left out */
async function open(t: Test, engine: string, address?: string): Promise<Place> {
  const upstream = await startUpstream(t);
  const contract = join(temporaryFolder(t), 'contract.json');
  writeFileSync(contract, JSON.stringify(CONTRACT));
  const environment = { PETGATE_CONTRACT: contract, ...(await storeOf(t, engine)) };
  const config = { upstreams: { default: { addresses: [address ?? upstream.url] } } };
  const gateway = await startGateway(t, { plans: PLANS, config, environment });
  const place: Place = { gateway, upstream, answer: () => undefined };
  upstream.handle = (_seen, response) => place.answer(response);
  return place;
}

async function ask({ gateway }: Place, key: string, path: string) {
  const response = await fetch(gateway.url + path, { headers: { authorization: `Bearer ${key}` } });
  const text = await response.text().catch(() => 'cut');
  return { status: response.status, headers: response.headers, text };
}

/** The windows and today's counts of a key. */
async function figures(place: Place, key: string) {
  const { text } = await ask(place, key, '/_petgate/usage');
  const { windows, today } = JSON.parse(text) as {
    readonly windows: Readonly<Record<string, { readonly remaining: number }>>;
    readonly today: { readonly requests: number; readonly units: number; readonly returned: number };
  };
  const [minute, day, month] = ['minute', 'day', 'month'].map((name) => windows[name]!.remaining);
  return { spent: [100 - minute!, 1_000 - day!, 5_000 - month!], ...today };
}

/** Sends one request with a new key, and returns what that key has spent once its hold is settled. */
async function settled(t: Test, place: Place, path: string, expected: number, hold = 40, status = 200) {
  const { key } = await place.gateway.createKey({ plan: 'free' });
  const response = await ask(place, key, path);
  t.equal(response.status, status, path);
  await until(`${path} is settled`, async () => (await figures(place, key)).spent[0] === expected);
  const { spent, units, returned, requests } = await figures(place, key);
  t.same(spent, [expected, expected, expected], `${path}: minute, day and month`);
  t.same(
    { requests, units, returned },
    { requests: 1, units: Math.max(hold, expected), returned: Math.max(0, hold - expected) },
  );
  return response;
}

for (const engine of ['embedded', 'redis', 'workers']) {
  t.test(`a response that says what it cost is charged that, and no more (${engine})`, async (t) => {
    const place = await open(t, engine);

    place.answer = (response) => void response.writeHead(200, { 'X-Usage-Units': '7.2' }).end('ok');
    const { headers } = await settled(t, place, '/header', 8);
    t.equal(headers.get('x-usage-units'), null, 'the field is between the upstream and the gateway');
    t.equal(headers.get('x-ratelimit-remaining'), '60', 'the head shows the figures after the hold');

    place.answer = json(usage(12));
    await settled(t, place, '/json', 12);
    t.equal(place.upstream.seen.at(-1)?.headers['accept-encoding'], 'identity', 'JSON can only be read unpacked');

    place.answer = json(usage(75));
    await settled(t, place, '/json', 75, 40);

    place.answer = (response) => {
      response.writeHead(200, EVENTS);
      response.write(`data: {"delta":"a"}\n\ndata: ${usage(5)}\r\n\r\ndata: ${usage(9).slice(0, 9)}`);
      setImmediate(() => response.end(`${usage(9).slice(9)}\n\ndata: [DONE]\n\n`));
    };
    await settled(t, place, '/json', 9);

    place.answer = (response) => void response.writeHead(200).end(Buffer.alloc(1_201));
    await settled(t, place, '/bytes', 13);

    place.answer = json(usage(50));
    await settled(t, place, '/said?max=55', 50, 55);
    await settled(t, place, '/said?max=9000', 50, 60);
    await settled(t, place, '/said?max=1', 50, 1);

    place.answer = json(usage(50));
    await settled(t, place, '/priced', 3, 3);
    t.end();
  });

  t.test(`a response without a figure costs its hold, or nothing where the contract says so (${engine})`, async (t) => {
    const place = await open(t, engine);
    for (const body of ['{}', usage('12'), usage(-1), usage(1e12), 'no JSON', '[]', '{"usage":null}']) {
      place.answer = json(body);
      await settled(t, place, '/json', 40);
    }
    place.answer = json('{}');
    await settled(t, place, '/free', 0);
    place.answer = json('{"code":"broken","message":"No.","status":500}', 500);
    await settled(t, place, '/json', 40, 40, 500);
    await settled(t, place, '/free', 0, 40, 500);
    place.answer = (response) => void response.destroy();
    await settled(t, place, '/json', 40, 40, 502);
    place.answer = json(`{"usage":{"total_tokens":1},"text":"${'x'.repeat(1024 * 1024)}"}`);
    await settled(t, place, '/json', 40);

    const { key } = await place.gateway.createKey({ plan: 'free' });
    place.answer = (response) => void response.writeHead(200, EVENTS).write(`data: ${usage(6)}\n\n`);
    const stop = new AbortController();
    const left = await fetch(`${place.gateway.url}/json`, {
      headers: { authorization: `Bearer ${key}` },
      signal: stop.signal,
    });
    await left.body!.getReader().read();
    stop.abort();
    await until('a client that left pays what came', async () => (await figures(place, key)).spent[0] === 6);
  });

  t.test(`what is held cannot be spent twice, and what comes back can (${engine})`, async (t) => {
    const place = await open(t, engine);
    const { key } = await place.gateway.createKey({ plan: 'free' });
    const held: ServerResponse[] = [];
    place.answer = (response) => void held.push(response);
    const pending = [ask(place, key, '/json'), ask(place, key, '/json')];
    await until('both are held', () => held.length === 2);
    const refused = await ask(place, key, '/json');
    t.equal(refused.status, 429);
    t.equal(refused.headers.get('x-ratelimit-remaining'), '20');
    t.equal(place.upstream.seen.length, 2, 'the third is not sent');
    for (const response of held) json(usage(10))(response);
    await Promise.all(pending);
    await until('the rest comes back', async () => (await figures(place, key)).spent[0] === 20);
    place.answer = json(usage(1));
    t.equal((await ask(place, key, '/json')).status, 200);

    const metrics = await scrape(place.gateway.adminUrl);
    t.equal(metrics.value('petgate_units_excess_total', { plan: 'free', operation: 'json' }), 0);
    t.equal(metrics.value('petgate_units_returned_total', { plan: 'free', operation: 'json' }), 60 + 39);
  });
}

t.test(
  'a request that could not be sent to its upstream costs one unit, like any that the gateway refuses',
  async (t) => {
    const place = await open(t, 'embedded', 'http://127.0.0.1:1');
    await settled(t, place, '/json', 1, 40, 503);
    await settled(t, place, '/free', 1, 40, 503);
  },
);

t.test('without a key, an address pays the hold of a public operation', async (t) => {
  const upstream = await startUpstream(t);
  const contract = join(temporaryFolder(t), 'contract.json');
  const get = { operationId: 'open', security: [], 'x-petgate': { cost: { hold: 4, from: { bytes: 1_000_000 } } } };
  writeFileSync(contract, JSON.stringify({ openapi: '3.0.3', paths: { '/open': { get } } }));
  const config = { upstreams: { default: { addresses: [upstream.url] } } };
  const gateway = await startGateway(t, { plans: PLANS, config, environment: { PETGATE_CONTRACT: contract } });
  const left: (string | null)[] = [];
  for (let n = 0; n < 3; n += 1) {
    const response = await fetch(`${gateway.url}/open`);
    await response.arrayBuffer();
    left.push(response.headers.get('x-ratelimit-remaining'));
  }
  t.same(left, ['6', '2', '2']);
});
