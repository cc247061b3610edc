import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { scrape } from '../servers/exposition.js';
import { startGateway } from '../servers/gateway.js';
import { NO_BAN } from '../servers/plans.js';
import { temporaryFolder } from '../servers/program.js';
import { startUpstream } from '../servers/upstream.js';
import { day } from './ledger.js';

const COUNT = 1_223;
const NAMED = 500;
const AMPLE = { limits: { minute: 100_000, day: 100_000 }, ban: NO_BAN };

t.test('every operation of a large contract reaches the upstream unchanged, and is counted by its name', async (t) => {
  const upstream = await startUpstream(t);
  const paths: Record<string, object> = {};
  for (let n = 0; n < COUNT; n += 1) paths[`/area${n % 40}/{id}/part${n}`] = { get: { operationId: `op${n}` } };
  const contract = join(temporaryFolder(t), 'contract.json');
  writeFileSync(contract, JSON.stringify({ openapi: '3.0.3', paths }));
  const gateway = await startGateway(t, {
    plans: { free: AMPLE, anonymous: AMPLE },
    config: { contract, upstreams: { default: { addresses: [upstream.url] } } },
  });
  const { key } = await gateway.createKey({ plan: 'free' });
  const asked = Array.from({ length: COUNT }, (_, n) => `/area${n % 40}/x%2C${n}/part${n}?q=${n}`);
  for (let from = 0; from < COUNT; from += 50) {
    const answers = asked.slice(from, from + 50).map(async (path) => {
      const answer = await fetch(gateway.url + path, { headers: { authorization: `Bearer ${key}` } });
      await answer.arrayBuffer();
      return answer.status;
    });
    t.ok((await Promise.all(answers)).every((status) => status === 200));
  }
  t.same(upstream.seen.map(({ url }) => url).sort(), [...asked].sort());
  const range = `from=${day(Date.now() - 86_400_000)}&to=${day(Date.now())}&by=operation`;
  const { body } = await gateway.admin('GET', `/admin/v1/usage?${range}`);
  const { rows } = body as { rows: readonly { readonly operation: string; readonly requests: number }[] };
  t.equal(rows.length, COUNT);
  t.ok(rows.every(({ requests }) => requests === 1));
  const metrics = await scrape(gateway.adminUrl);
  t.equal(metrics.value('petgate_admitted_total', { plan: 'free' }), COUNT);
  t.equal(metrics.value('petgate_admitted_total', { operation: 'other' }), COUNT - NAMED);
  t.equal(metrics.value('petgate_requests_total', { operation: `op${NAMED - 1}`, class: '2xx' }), 1);
  t.equal(metrics.value('petgate_requests_total', { operation: 'other', class: '2xx' }), COUNT - NAMED);
});
