import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { startGateway } from '../servers/gateway.js';
import { NO_BAN } from '../servers/plans.js';
import { storeOf } from '../servers/redis.js';
import { temporaryFolder } from '../servers/program.js';
import { until } from '../servers/until.js';
import { startUpstream } from '../servers/upstream.js';
import { day } from './ledger.js';

const [QUOTED, WIDE, PROTO, UNNAMED] = ['a"b\\c|d', '=prüfe, 日本', '__proto__', 'GET /d/{d}'];
const CONTRACT = {
  openapi: '3.0.3',
  paths: {
    '/a': { get: { operationId: QUOTED } },
    '/b': { get: { operationId: WIDE } },
    '/c': { get: { operationId: PROTO, 'x-petgate': { cost: 4 } } },
    '/d/{d}': { get: {} },
  },
};
const PLANS = {
  free: {
    limits: { minute: 1_000, day: 10_000 },
    ban: NO_BAN,
    operations: { [QUOTED]: { cost: 2, minute: 5 }, [WIDE]: { cost: 3, day: 6 }, [UNNAMED]: { minute: 1 } },
  },
  anonymous: { limits: { minute: 10, day: 10 }, ban: NO_BAN },
};
/** Two requests pass of each but the last, of which one does. */
const EXPECTED = [
  { operation: QUOTED, requests: 2, units: 4, returned: 0, limited: 1 },
  { operation: WIDE, requests: 2, units: 6, returned: 0, limited: 1 },
  { operation: UNNAMED, requests: 1, units: 1, returned: 0, limited: 2 },
  { operation: PROTO, requests: 3, units: 12, returned: 0, limited: 0 },
];

for (const engine of ['embedded', 'redis']) {
  t.test(`whatever an operation is called, it is priced, limited and counted by its name (${engine})`, async (t) => {
    const upstream = await startUpstream(t);
    const contract = join(temporaryFolder(t), 'contract.json');
    writeFileSync(contract, JSON.stringify(CONTRACT));
    const environment = { PETGATE_CONTRACT: contract, ...(await storeOf(t, engine)) };
    const config = { upstreams: { default: { addresses: [upstream.url] } } };
    const gateway = await startGateway(t, { plans: PLANS, config, environment });
    const { key } = await gateway.createKey({ plan: 'free' });
    const fields = new Map<string, string | null>();
    for (const path of ['/a', '/b', '/c', '/d/1']) {
      for (let n = 0; n < 3; n += 1) {
        const answer = await fetch(gateway.url + path, { headers: { authorization: `Bearer ${key}` } });
        await answer.arrayBuffer();
        fields.set(path, answer.headers.get('ratelimit-policy'));
      }
    }
    t.equal(upstream.seen.length, 8);
    const common = '"minute";q=1000;w=60, "day";q=10000;w=86400';
    t.equal(fields.get('/a'), `${common}, "a\\"b\\\\c|d-minute";q=5;w=60`);
    t.equal(fields.get('/b'), `${common}, "=pr%C3%BCfe, %E6%97%A5%E6%9C%AC-day";q=6;w=86400`);
    t.equal(fields.get('/d/1'), `${common}, "GET /d/{d}-minute";q=1;w=60`);

    const range = `from=${day(Date.now() - 86_400_000)}&to=${day(Date.now())}&by=operation`;
    const { body } = await gateway.admin('GET', `/admin/v1/usage?${range}`);
    const { rows } = body as { rows: readonly { readonly operation: string }[] };
    t.match(
      EXPECTED.map(({ operation }) => rows.find((row) => row.operation === operation)),
      EXPECTED,
    );
    t.equal(rows.length, EXPECTED.length);
    const csv = await fetch(`${gateway.adminUrl}/admin/v1/usage?${range}&format=csv`, {
      headers: { authorization: 'Bearer admin-token-of-the-tests' },
    });
    const table = await csv.text();
    for (const cell of ['"a""b\\c|d",2,4,', `"'=prüfe, 日本",2,6,`, 'GET /d/{d},1,1,', '__proto__,3,12,'])
      t.match(table, cell);

    const metrics = await (await fetch(`${gateway.adminUrl}/metrics`)).text();
    const labels = ['a\\"b\\\\c|d', WIDE, UNNAMED, PROTO];
    for (const [index, label] of labels.entries())
      t.match(metrics, `petgate_admitted_units_total{plan="free",operation="${label}"} ${EXPECTED[index]!.units}\n`);
    const logged = (operation: string): number =>
      gateway.program.lines().filter((line) => line['operation'] === operation).length;
    await until('every request is logged under its name', () =>
      EXPECTED.every(({ operation }) => logged(operation) === 3),
    );
  });
}
