import t, { type Test } from 'tap';
import { loadContract } from '../../src/gateway/contract/load.js';
import { scrape } from '../servers/exposition.js';
import { GITHUB, NO_GITHUB, samplePath } from '../servers/github.js';
import { startGateway, type Gateway } from '../servers/gateway.js';
import { NO_BAN } from '../servers/plans.js';
import { startUpstream } from '../servers/upstream.js';
import { day } from './ledger.js';

const COUNT = 1_223;
const NAMED = 500;
const AT_ONCE = 50;
const AMPLE = { limits: { minute: 100_000, day: 100_000 }, ban: NO_BAN };

t.test(
  'every operation of a large document, as it is, reaches the upstream unchanged and is counted by its name',
  { skip: NO_GITHUB },
  async (t) => {
    const upstream = await startUpstream(t);
    const gateway = await startGateway(t, {
      plans: { free: AMPLE, anonymous: AMPLE },
      config: { contract: GITHUB, upstreams: { default: { addresses: [upstream.url] } } },
    });
    const { key } = await gateway.createKey({ plan: 'free' });
    const operations = loadContract(GITHUB).routes.operations;
    t.equal(operations.length, COUNT);
    const asked = operations.map((operation, n) => ({
      id: operation.id,
      method: operation.method,
      url: `${samplePath(operation, n)}?q=${n}%20`,
      body: operation.hasBody ? `{"n": ${n}}` : '',
    }));
    for (let from = 0; from < COUNT; from += AT_ONCE) {
      const answers = asked.slice(from, from + AT_ONCE).map(async ({ method, url, body }) => {
        const sent = body === '' ? {} : { body, headers: { 'content-type': 'application/json' } };
        const headers = { ...sent.headers, authorization: `Bearer ${key}` };
        const answer = await fetch(gateway.url + url, { method, ...sent, headers });
        await answer.arrayBuffer();
        return answer.status;
      });
      t.ok((await Promise.all(answers)).every((status) => status === 200));
    }
    const said = (all: readonly { method: string; url: string; body: string }[]): readonly string[] =>
      all.map(({ method, url, body }) => `${method} ${url} ${body}`).sort();
    t.same(said(upstream.seen), said(asked));
    await countedByName(
      t,
      gateway,
      asked.map(({ id }) => id),
    );
  },
);

/** The ledger has every name, and metrics the first ones. */
async function countedByName(t: Test, gateway: Gateway, names: readonly string[]): Promise<void> {
  const range = `from=${day(Date.now() - 86_400_000)}&to=${day(Date.now())}&by=operation`;
  const { body } = await gateway.admin('GET', `/admin/v1/usage?${range}`);
  const { rows } = body as { rows: readonly { readonly operation: string; readonly requests: number }[] };
  t.same(rows.map(({ operation, requests }) => `${operation} ${requests}`).sort(), names.map((id) => `${id} 1`).sort());
  const metrics = await scrape(gateway.adminUrl);
  t.equal(metrics.value('petgate_admitted_total', { plan: 'free' }), COUNT);
  t.equal(metrics.value('petgate_admitted_total', { operation: 'other' }), COUNT - NAMED);
  t.equal(metrics.value('petgate_requests_total', { operation: names[NAMED - 1]!, class: '2xx' }), 1);
  t.equal(metrics.value('petgate_requests_total', { operation: 'other', class: '2xx' }), COUNT - NAMED);
}
