import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import t, { type Test } from 'tap';
import { checkHonest } from '../answers/honest.js';
import { startGateway, type Gateway } from '../servers/gateway.js';
import { NO_BAN } from '../servers/plans.js';
import { temporaryFolder } from '../servers/program.js';
import { exchangeRaw, type RawAnswer, statusesOf } from '../servers/raw.js';
import { storeOf } from '../servers/redis.js';
import { startUpstream, type Upstream } from '../servers/upstream.js';
import { ledgerOf } from './ledger.js';

const DOCUMENT = {
  openapi: '3.1.0',
  info: { title: 'Accounts', version: '1' },
  components: { securitySchemes: { key: { type: 'http', scheme: 'bearer' } } },
  security: [{ key: [] }],
  paths: {
    '/login': { post: { operationId: 'login', security: [], requestBody: {}, 'x-petgate': { cost: 5 } } },
    '/status': { get: { operationId: 'status', security: [], 'x-petgate': { cost: 0 } } },
    '/news': { get: { operationId: 'news', security: [] } },
    '/orders': { get: { operationId: 'orders' } },
  },
};
const LIMIT = 60;
const PLANS = {
  wide: { limits: { minute: 1_000, day: 10_000 }, ban: NO_BAN },
  anonymous: { limits: { minute: LIMIT, day: 10_000 }, ban: NO_BAN },
};

async function start(t: Test, environment: Readonly<Record<string, string>>): Promise<[Gateway, Upstream]> {
  const upstream = await startUpstream(t);
  const contract = join(temporaryFolder(t), 'api.json');
  writeFileSync(contract, JSON.stringify(DOCUMENT));
  const config = { contract, own_paths: '/_petgate', upstreams: { default: { addresses: [upstream.url] } } };
  return [await startGateway(t, { plans: PLANS, config, environment }), upstream];
}

function requestOf(line: string, key: string | null): string {
  const fields = key === null ? [] : [`Authorization: Bearer ${key}`];
  if (line.startsWith('POST')) fields.push('Content-Length: 2');
  return [`${line} HTTP/1.1`, 'Host: x', ...fields, '', line.startsWith('POST') ? '{}' : ''].join('\r\n');
}

for (const engine of ['embedded, two workers', 'redis']) {
  t.test(`what anyone may call is paid for by who calls it: address or key (${engine})`, async (t) => {
    const [gateway, upstream] = await start(t, await storeOf(t, engine));
    const ask = async (line: string, key: string | null = null, times = 1): Promise<readonly RawAnswer[]> =>
      exchangeRaw(gateway.port, requestOf(line, key).repeat(times), times);

    const logins = await ask('POST /login', null, 20);
    const statuses = statusesOf(logins);
    t.same(statuses, [...Array<number>(12).fill(200), ...Array<number>(8).fill(429)], 'twelve times five units');
    t.equal(upstream.seen.length, 12, 'no more reaches the upstream');
    t.match(logins[19]!.body, /"code":"rate_limited"/);
    checkHonest(t, logins[19]!, 'POST /login');
    t.equal(logins[0]!.headers.get('x-ratelimit-remaining'), String(LIMIT - 5), "the figures are the address's");
    t.equal((await ask('GET /news'))[0]!.status, 429, 'the other public operations have the same limit');
    t.equal((await ask('GET /status'))[0]!.status, 200, 'what costs nothing stays free');
    t.equal((await ask('GET /orders'))[0]!.status, 429, 'and so does a request that lacks its key');

    const { id, key } = await gateway.createKey({ plan: 'wide' });
    const paid = (await ask('POST /login', key))[0]!;
    t.equal(paid.status, 200, 'a valid key pays itself, whatever its address has left');
    t.equal(paid.headers.get('x-ratelimit-remaining'), '995');
    t.equal((await ask('GET /orders', key))[0]!.status, 200);
    t.match(await ledgerOf(gateway, id), { requests: 2, units: 6 }, 'and has it in the ledger');
    t.equal((await ask('POST /login', `${key.slice(0, -1)}!`))[0]!.status, 429, 'an invalid one does not pay');
  });
}
