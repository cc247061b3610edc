import t from 'tap';
import type { Test } from 'tap';
import { checkHonest, codeOf } from '../answers/honest.js';
import { ledgerOf } from '../e2e/ledger.js';
import { startGateway, type Gateway } from '../servers/gateway.js';
import { exchangeRaw, type RawAnswer, statusesOf } from '../servers/raw.js';
import { startUpstream, type Upstream } from '../servers/upstream.js';
import { until } from '../servers/until.js';
import { AMPLE_PLANS, metricOf, request } from './front.js';

const EXCHANGES = 8;
// Longer than what follows takes on a busy machine.
const OPEN_MS = 15_000;

interface Stage {
  readonly gateway: Gateway;
  /** A field of the ledger, of all keys together. */
  readonly counted: (field: 'requests' | 'failed') => Promise<number>;
  readonly pets: Upstream;
  /** What the answer was, after how long. */
  readonly ask: (path: string) => Promise<RawAnswer & { readonly tookMs: number }>;
}

async function stage(t: Test): Promise<Stage> {
  const [pets, store] = [await startUpstream(t), await startUpstream(t)];
  const gateway = await startGateway(t, {
    plans: AMPLE_PLANS,
    config: {
      limits: { exchanges: EXCHANGES },
      upstreams: {
        pets: {
          addresses: [pets.url],
          deadline: '1s',
          breaker: { failures: 3, open: `${OPEN_MS}ms`, cap: `${OPEN_MS}ms` },
        },
        store: { addresses: [store.url] },
      },
    },
  });
  // What one key sees of a service keeps no other away from it.
  const keys = await Promise.all([1, 2, 3, 4].map(() => gateway.createKey({ plan: 'free' })));
  let asked = 0;
  const ask: Stage['ask'] = async (path) => {
    const startMs = performance.now();
    const { key } = keys[asked++ % keys.length]!;
    const [answer] = await exchangeRaw(gateway.target, request(`GET ${path}`, `Authorization: Bearer ${key}`), 1);
    checkHonest(t, answer!, path);
    return { ...answer!, tookMs: performance.now() - startMs };
  };
  const counted: Stage['counted'] = async (field) => {
    const rows = await Promise.all(keys.map(({ id }) => ledgerOf(gateway, id)));
    return rows.reduce((sum, row) => sum + row[field], 0);
  };
  return { gateway, counted, pets, ask };
}

/** The attack: an upstream takes every request and answers none, until no room is left for those of other services. */
t.test('a service that hangs does not starve the others, and is served again soon after it is well', async (t) => {
  const { gateway, counted, pets, ask } = await stage(t);
  t.equal((await ask('/v1/pets')).status, 200);
  pets.handle = () => undefined;
  const hung = Array.from({ length: EXCHANGES }, () => ask('/v1/pets'));
  await until(
    'all places are taken',
    async () => (await metricOf(gateway, 'petgate_exchanges_in_flight')) === EXCHANGES,
  );
  t.equal(codeOf(await ask('/v1/store/orders')), 'overloaded', 'until then it does starve them');
  t.strictSame((await Promise.all(hung)).map(codeOf), Array<string>(EXCHANGES).fill('upstream_timeout'));

  const opened = await gateway.program.logged(
    'requests to this address fail: it is passed over, except for occasional trials',
  );
  t.match(opened, { upstream: 'pets', address: pets.url, failure: 'timeout' });
  const before = pets.seen.length;
  for (let round = 0; round < 5; round += 1) {
    const answers = await Promise.all(
      ['/v1/pets', '/v1/store/orders', '/v1/pets', '/v1/store/orders', '/v1/pets', '/v1/store/orders'].map(ask),
    );
    t.strictSame(statusesOf(answers), [503, 200, 503, 200, 503, 200]);
    for (const answer of answers.filter(({ status }) => status === 503)) {
      t.equal(codeOf(answer), 'upstream_unavailable');
      t.ok(Number(answer.headers.get('retry-after')) <= OPEN_MS / 1000);
    }
  }
  t.equal(pets.seen.length, before, 'nothing was sent to it meanwhile, so that nobody waited for it');
  t.equal(await metricOf(gateway, 'petgate_upstream_up_ratio'), 1, 'of two services one is up');
  t.match((await gateway.admin('GET', '/readyz')).body, {
    ready: true,
    parts: { 'upstream:pets': { ok: false, detail: '0 of 1 addresses up' }, 'upstream:store': { ok: true } },
  });
  await until('billing can credit those that hung', async () => (await counted('failed')) === EXCHANGES);
  t.equal(await counted('requests'), 1 + EXCHANGES + 15, 'what was refused meanwhile cost nothing');
  await recovers(t, { gateway, pets, ask });
});

async function recovers(t: Test, { gateway, pets, ask }: Pick<Stage, 'gateway' | 'pets' | 'ask'>): Promise<void> {
  pets.handle = (_seen, response) => response.end('[]');
  const last = await ask('/v1/pets');
  const endMs = performance.now();
  const toldMs = 1000 * Number(last.headers.get('retry-after') ?? 0);
  t.equal(last.status, 503);
  await until('it is served', async () => {
    const requestedMs = performance.now();
    const { status } = await ask('/v1/pets');
    if (status !== 200 && requestedMs > endMs + toldMs) t.fail('whoever asks when Retry-After said is served');
    return status === 200;
  });
  const servedMs = performance.now();
  t.ok(servedMs > endMs - last.tookMs + toldMs - 1000, 'which was no later than need be, in whole seconds');
  t.match(await gateway.program.logged('this address responds again'), {
    level: 'info',
    upstream: 'pets',
    address: pets.url,
  });
  t.strictSame(
    statusesOf(await Promise.all(Array.from({ length: EXCHANGES }, () => ask('/v1/pets')))),
    Array<number>(EXCHANGES).fill(200),
  );
  t.equal(await metricOf(gateway, 'petgate_upstream_open_ratio'), 0);
}
