import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import t, { type Test } from 'tap';
import { checkHonest } from '../answers/honest.js';
import { startGateway, type Gateway } from '../servers/gateway.js';
import { NO_BAN } from '../servers/plans.js';
import { temporaryFolder } from '../servers/program.js';
import { exchangeRaw, type RawAnswer } from '../servers/raw.js';
import { storeOf } from '../servers/redis.js';
import { startUpstream, type Upstream } from '../servers/upstream.js';
import { day, ledgerOf } from './ledger.js';

/** As somebody else wrote it: nothing in it is about us. */
const DOCUMENT = {
  swagger: '2.0',
  info: { title: 'Library', version: '7' },
  basePath: '/api/v2',
  securityDefinitions: { key: { type: 'apiKey', in: 'header', name: 'X-API-Key' } },
  security: [{ key: [] }],
  paths: {
    '/books': { get: { operationId: 'books/list' }, post: { parameters: [{ in: 'body', name: 'b', schema: {} }] } },
    '/books/{isbn}': {
      parameters: [{ in: 'path', name: 'isbn', required: true, type: 'string', pattern: '^[0-9]{13}$' }],
      get: { operationId: 'books/get' },
      delete: { operationId: 'books/delete' },
    },
    '/internal/audit': { get: { operationId: 'audit' } },
  },
};
/** What we sell of it. The scope of a path is above that of all, the price of an operation above both. */
const POLICY = `
overlay: 1.0.0
info: { title: Policy, version: '1' }
actions:
  - { target: $, update: { x-petgate: { scope: 'books:read', cost: 2 } } }
  - { target: "$.paths['/books'].post", update: { x-petgate: { scope: 'books:write', cost: 9 } } }
  - target: $.paths['/books/{isbn}'].get
    update: { deprecated: true, x-deprecated-at: '2026-01-01T00:00:00Z', x-sunset: '2097-01-01T00:00:00Z' }
  - { target: "$.paths['/books/{isbn}'].delete", update: { x-sunset: '2026-01-01T00:00:00Z' } }
  - { target: "$.paths['/internal/audit']", remove: true }
`;
const CREATE = 'POST /books';
const PLANS = {
  // Its own price is above the contract's.
  reader: { limits: { minute: 60, day: 1_000 }, ban: NO_BAN, operations: { 'books/list': { cost: 5 } } },
  writer: { limits: { minute: 600, day: 1_000 }, ban: NO_BAN, operations: { [CREATE]: { minute: 20 } } },
  anonymous: { limits: { minute: 1_000, day: 10_000 }, ban: NO_BAN },
};
const AT_ONCE = 60;

async function start(t: Test, environment: Readonly<Record<string, string>>): Promise<[Gateway, Upstream]> {
  const upstream = await startUpstream(t);
  const folder = temporaryFolder(t);
  writeFileSync(join(folder, 'api.json'), JSON.stringify(DOCUMENT));
  writeFileSync(join(folder, 'policy.yaml'), POLICY);
  const config = {
    contract: join(folder, 'api.json'),
    overlays: [join(folder, 'policy.yaml')],
    credentials: [{ header: 'X-API-Key' }],
    upstreams: { default: { addresses: [upstream.url], strip_prefix: '/api' } },
  };
  return [await startGateway(t, { plans: PLANS, config, environment }), upstream];
}

for (const engine of ['embedded, two workers', 'redis']) {
  t.test(`a foreign contract is sold as the animal store is, and the promises hold (${engine})`, async (t) => {
    const [gateway, upstream] = await start(t, await storeOf(t, engine));
    const ask = async (key: string, line: string, body = ''): Promise<RawAnswer> => {
      const fields = [`X-API-Key: ${key}`, ...(body === '' ? [] : [`Content-Length: ${body.length}`])];
      const message = [`${line} HTTP/1.1`, 'Host: x', ...fields, '', body].join('\r\n');
      const answer = (await exchangeRaw(gateway.port, message, 1))[0]!;
      // Where a request costs more than one, some of it may remain.
      if (answer.status !== 429) checkHonest(t, answer, line);
      else t.ok(Number(answer.headers.get('retry-after')) >= 1 && answer.headers.has('x-ratelimit-reset'));
      return answer;
    };
    const codeOf = ({ status, body }: RawAnswer): string => `${status} ${(JSON.parse(body) as { code: string }).code}`;
    const reader = await gateway.createKey({ plan: 'reader', scopes: ['books:read'] });
    const writer = await gateway.createKey({ plan: 'writer' });

    // Scopes, prices, windows of one operation, deprecation, and what an overlay removes.
    t.equal(codeOf(await ask(reader.key, 'POST /api/v2/books', '{}')), '403 insufficient_scope');
    for (const status of [200, 200, 429]) t.equal((await ask(writer.key, 'POST /api/v2/books', '{}')).status, status);
    const got = await ask(writer.key, 'GET /api/v2/books/9780261103573');
    t.match([got.status, got.headers.get('sunset')], [200, 'Tue, 01 Jan 2097 00:00:00 GMT']);
    t.match(got.headers.get('deprecation'), '@1767225600');
    t.equal(codeOf(await ask(writer.key, 'DELETE /api/v2/books/9780261103573')), '410 operation_removed');
    t.equal(codeOf(await ask(writer.key, 'GET /api/v2/books/x')), '404 not_found');
    t.equal(codeOf(await ask(writer.key, 'GET /api/v2/internal/audit')), '404 not_found');
    t.equal(codeOf(await ask(writer.key, 'PATCH /api/v2/books', '{}')), '405 method_not_allowed');
    t.equal(codeOf(await ask('wrong', 'GET /api/v2/books')), '401 invalid_api_key');
    t.same(
      upstream.seen.map(({ method, url }) => `${method} ${url}`),
      ['POST /v2/books', 'POST /v2/books', 'GET /v2/books/9780261103573'],
      'nothing else got there, and by its own paths',
    );
    t.same(await spentBy(gateway, writer.id), [
      'POST /books 2 18',
      'books/delete 1 2',
      'books/get 2 4',
      'unmatched 2 2',
    ]);

    // At once: what 60 units pay for at 5 each, beside the 9 of the 403, and the ledger has just these.
    const answers = await Promise.all(Array.from({ length: AT_ONCE }, () => ask(reader.key, 'GET /api/v2/books')));
    t.equal(answers.filter(({ status }) => status === 200).length, 10);
    t.match(await ledgerOf(gateway, reader.id), { requests: 11, units: 59, returned: 0, limited: AT_ONCE - 10 });

    // The very next request.
    await gateway.admin('PATCH', `/admin/v1/keys/${reader.id}`, { plan: 'writer' });
    t.equal((await ask(reader.key, 'GET /api/v2/books')).status, 200);
    await gateway.admin('PUT', `/admin/v1/bans/${reader.id}`, { for: '1h', reason: 'a test' });
    t.equal(codeOf(await ask(reader.key, 'GET /api/v2/books')), '429 key_banned');
    await gateway.admin('DELETE', `/admin/v1/keys/${writer.id}`);
    t.equal(codeOf(await ask(writer.key, 'GET /api/v2/books')), '401 invalid_api_key');
  });
}

/** Requests and units of a key by operation. */
async function spentBy(gateway: Gateway, key: string): Promise<readonly string[]> {
  const range = `from=${day(Date.now() - 86_400_000)}&to=${day(Date.now())}`;
  const { body } = await gateway.admin('GET', `/admin/v1/usage?${range}&by=operation&key=${key}`);
  const { rows } = body as { rows: readonly { operation: string; requests: number; units: number }[] };
  return rows.map(({ operation, requests, units }) => `${operation} ${requests} ${units}`).sort();
}
