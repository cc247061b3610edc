import t from 'tap';
import type { Test } from 'tap';
import type { Address } from '../../../../src/gateway/upstream/addresses/address.js';
import { openUpstreams, type Upstream } from '../../../../src/gateway/upstream/pools.js';
import { NO_EVENTS, upstreamSettings } from '../settings.js';
import type { ResponseHandler } from '../../../../src/gateway/upstream/http1/transport.js';
import { startFront } from '../../../attacks/front.js';
import { scrape } from '../../../servers/exposition.js';
import { startGateway, type Gateway } from '../../../servers/gateway.js';
import { until } from '../../../servers/until.js';
import { startUpstream, type Upstream as Service } from '../../../servers/upstream.js';

const ASKED = { path: '/readyz', every: '100ms', deadline: '200ms' };

interface Stage {
  readonly services: readonly [Service, Service];
  readonly gateway: Gateway;
  /** Sends requests one after the other, and gives how many each service got. */
  readonly ask: (times: number) => Promise<readonly [number, number]>;
  readonly up: () => Promise<number | undefined>;
}

async function stage(t: Test): Promise<Stage> {
  const services = [await startUpstream(t), await startUpstream(t)] as const;
  const gateway = await startGateway(t, {
    config: { upstreams: { pets: { health: ASKED } } },
    environment: { PETS_URL: services.map(({ url }) => url).join(',') },
  });
  const { key } = await gateway.createKey({ plan: 'business' });
  const served = ({ seen }: Service): number => seen.filter(({ url }) => url !== ASKED.path).length;
  const ask = async (times: number): Promise<readonly [number, number]> => {
    const before = services.map(served);
    // Two at a time, so that load alone would use both.
    for (let n = 0; n < times; n += 2) {
      const answers = await Promise.all(
        [1, 2].map(() => fetch(`${gateway.url}/v1/pets`, { headers: { authorization: `Bearer ${key}` } })),
      );
      for (const answer of answers) {
        await answer.arrayBuffer();
        if (answer.status !== 200) throw new Error(`answered ${answer.status}`);
      }
    }
    return [served(services[0]) - before[0]!, served(services[1]) - before[1]!];
  };
  const up = async (): Promise<number | undefined> =>
    (await scrape(gateway.adminUrl)).value('petgate_upstream_up_ratio', { upstream: 'pets' });
  return { services, gateway, ask, up };
}

/** `unhealthy` says so when it is asked; everything else it serves. */
function answerHealth(service: Service, unhealthy: 'says so' | 'is silent' | null): void {
  service.handle = ({ url }, response) => {
    if (url !== ASKED.path || unhealthy === null)
      response.writeHead(200, { 'content-type': 'application/json' }).end('[]');
    else if (unhealthy === 'says so') response.writeHead(503).end();
  };
}

for (const way of ['says so', 'is silent'] as const) {
  t.test(`an address that is not well, and ${way}, gets nothing until it is`, async (t) => {
    const { services, gateway, ask, up } = await stage(t);
    const [one, two] = services;
    t.ok(
      (await ask(20)).every((got) => got > 0),
      'both serve at first',
    );
    answerHealth(one, way);
    await until('it is known', async () => (await up()) === 0.5);
    t.same(await ask(20), [0, 20]);
    t.match((await gateway.admin('GET', '/readyz')).body, {
      parts: { 'upstream:pets': { ok: true, detail: '1 of 2 addresses up' } },
    });
    answerHealth(two, way);
    await until('neither is well', async () => (await up()) === 0);
    t.ok(
      (await ask(20)).every((got) => got > 0),
      'better asked than refused',
    );
    answerHealth(one, null);
    answerHealth(two, null);
    await until('both are well again', async () => (await up()) === 1);
    t.ok((await ask(20)).every((got) => got > 0));
  });
}

t.test('an address whose breaker is open is tried as soon as it says that it is well again', async (t) => {
  const service = await startUpstream(t);
  const front = await startFront(t, service.url, {
    pets: { health: ASKED, breaker: { failures: 1, open: '1h', cap: '1h' } },
  });
  const up = async (): Promise<number> =>
    (await scrape(front.gateway.adminUrl)).value('petgate_upstream_up_ratio', { upstream: 'pets' });
  const isReady = async (): Promise<boolean> =>
    ((await front.gateway.admin('GET', '/readyz')).body as { parts: Record<string, { ok: boolean }> }).parts[
      'upstream:pets'
    ]!.ok;
  service.handle = (_seen, response) => response.destroy();
  t.equal(await front.good(), 503, 'the second attempt is not made');
  t.equal(await front.good(), 503);
  const asked = service.seen.length;
  await until('it was asked for its health, and is ill', () => service.seen.length > asked + 2);
  t.equal(await up(), 0);
  t.equal(await front.good(), 503);
  answerHealth(service, null);
  await until('it is served, within the hour', async () => (await front.good()) === 200);
  t.equal(await isReady(), true);
});

const DEAF: ResponseHandler = {
  onRequestStart: () => undefined,
  onResponseStart: () => undefined,
  onResponseData: () => undefined,
  onResponseEnd: () => undefined,
  onResponseError: () => undefined,
  onFault: () => undefined,
};

t.test(
  'one bad answer is chance; a full pool says nothing about the service; nobody asks any more after the end',
  async (t) => {
    const service = await startUpstream(t);
    const upstream = open({ url: service.url, connections: 1 });
    const [address] = upstream.addresses as [Address];
    t.teardown(() => upstream.close());
    let asked = 0;
    service.handle = ({ url }, response) => {
      if (url !== ASKED.path) return;
      asked += 1;
      response.writeHead(asked === 2 ? 500 : 204).end();
    };
    address.pool.dispatch({ method: 'GET', target: '/stuck', headers: [], body: null, host: null }, DEAF);
    let wasWell = true;
    await until('it was asked often', () => {
      wasWell &&= address.healthy;
      return asked > 5;
    });
    t.equal(wasWell, true);
    upstream.close();
    const atEnd = asked;
    await new Promise((resolve) => setTimeout(resolve, 100));
    t.ok(asked <= atEnd + 1, 'but for one that was under way');
  },
);

function open({ url, connections }: { readonly url: string; readonly connections: number }): Upstream {
  const health = { path: ASKED.path, every: 20, deadline: 1000 };
  return openUpstreams(
    {
      pets: upstreamSettings({ addresses: [url], connections, connect: 100, deadline: 100, health, breaker: null }),
    },
    NO_EVENTS,
  ).get('pets')!;
}
