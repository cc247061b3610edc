import { writeFileSync } from 'node:fs';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import t from 'tap';
import { RecentExchanges } from '../../../src/gateway/observe/recent/memory.js';
import { recallHere } from '../../../src/gateway/observe/recent/recall.js';
import type { Test } from 'tap';
import { createApp, type App } from '../../../src/gateway/app.js';
import { loadSettings } from '../../../src/gateway/config/load.js';
import { loadContract } from '../../../src/gateway/contract/load.js';
import { createRoute } from '../../../src/gateway/contract/route.js';
import type { Stripped } from '../../../src/gateway/exchange.js';
import { makeExchange } from '../exchange.js';
import { drain, listen } from '../../../src/gateway/process/listen.js';
import { createLog } from '../../../src/shared/log.js';
import { checkHonest, codeOf } from '../../answers/honest.js';
import { temporaryFolder } from '../../servers/program.js';
import { exchangeRaw, type RawAnswer } from '../../servers/raw.js';
import { startUpstream } from '../../servers/upstream.js';
import { until } from '../../servers/until.js';
import { newKey, openScratchEngine } from '../admission/scratch.js';

const SUNSET_MS = Date.UTC(2030, 11, 5);

interface Door {
  readonly app: App;
  readonly recent: RecentExchanges;
  /** The targets of the requests that reached it. */
  readonly upstreamSaw: () => readonly string[];
  get(path: string, ...fields: readonly string[]): Promise<RawAnswer>;
}

/** The whole app in this process, with a clock that a test sets. */
async function openDoor(t: Test, now: () => number, contract = loadContract()): Promise<Door> {
  const upstream = await startUpstream(t);
  const engine = openScratchEngine(t);
  const key = await newKey(engine);
  const settings = loadSettings({ PETGATE_DATA: temporaryFolder(t), PETS_URL: upstream.url });
  const recent = new RecentExchanges();
  const app = createApp({
    recent,
    recall: recallHere(recent),
    settings: { ...settings, log: { ...settings.log, access: false } },
    engine,
    contract,
    internalToken: 'internal',
    log: createLog('gateway', 'silent'),
    now,
  });
  await listen(app.listener.server, { host: '127.0.0.1', port: 0 });
  t.teardown(() => drain(app, 1000));
  const { port } = app.listener.server.address() as AddressInfo;
  return {
    app,
    recent,
    upstreamSaw: () => upstream.seen.map(({ url }) => url),
    get: async (path, ...fields) =>
      (
        await exchangeRaw(
          port,
          [`GET ${path} HTTP/1.1`, 'Host: x', `Authorization: Bearer ${key.token}`, ...fields, '', ''].join('\r\n'),
          1,
        )
      )[0]!,
  };
}

t.test('a deprecated operation says until when, and after its sunset is gone', async (t) => {
  let nowMs = SUNSET_MS - 1;
  const door = await openDoor(t, () => nowMs);
  const before = await door.get('/v1/pets/1');
  t.equal(before.status, 200, 'served to the last millisecond');
  nowMs = SUNSET_MS;
  const after = await door.get('/v1/pets/1');
  t.equal(after.status, 410);
  t.equal(codeOf(after), 'operation_removed');
  checkHonest(t, after, '410');
  for (const answer of [before, after]) {
    t.equal(answer.headers.get('sunset'), 'Thu, 05 Dec 2030 00:00:00 GMT');
    t.match(answer.headers.get('deprecation'), /^@\d+$/);
    t.match(answer.headers.get('link'), /rel="successor-version"/);
  }
  t.equal(
    Number(before.headers.get('x-ratelimit-remaining')) - Number(after.headers.get('x-ratelimit-remaining')),
    1,
    'and costs like any request',
  );
  t.equal(door.upstreamSaw().length, 1, 'nothing of it reaches the upstream');
  t.equal((await door.get('/v1/pets')).status, 200, 'its successor stays');
});

t.test('an operation is named, or the refusal that stands', async (t) => {
  const door = await openDoor(t, Date.now);
  for (const [path, status, code] of [
    ['/v1/cats', 404, 'not_found'],
    ['/v1/store/orders', 501, 'not_implemented'],
  ] as const) {
    const answer = await door.get(path);
    t.equal(answer.status, status);
    t.equal(codeOf(answer), code);
  }
  t.equal((await door.get('/v1/store/orders')).headers.get('x-stability'), 'experimental');
  t.equal((await door.get('/v1/pets', 'Content-Length: 0')).status, 200, 'a body of nothing is none');
  t.equal(door.upstreamSaw().length, 1);
});

t.test('what a path is matched as is what the upstream gets, byte for byte, and nothing else gets there', async (t) => {
  const folder = temporaryFolder(t);
  const contract = join(folder, 'openapi.yaml');
  const text = '{ name: id, in: path, required: true, schema: { type: string } }';
  const whole = '{ name: id, in: path, required: true, schema: { type: integer } }';
  writeFileSync(
    contract,
    `openapi: 3.0.3
x-petgate: { upstream: pets }
paths:
  /compare/{base}...{head}: { get: {} }
  /items/me: { post: {} }
  /items/{id}: { parameters: [${text}], get: {} }
  /items/{id}:reset: { parameters: [${whole}], get: {} }
  /caf\u00e9/{id}: { parameters: [${text}], get: {} }
`,
  );
  const door = await openDoor(t, Date.now, loadContract(contract));
  const forwarded = [
    '/compare/v1...v2...v3?a=...',
    '/compare/a%20b...%C3%A9',
    '/items/7',
    '/items/7:rese',
    '/items/%252F',
    '/items/7:reset',
    '/caf%C3%A9/;x=y',
  ];
  for (const path of forwarded) t.equal((await door.get(path)).status, 200, path);
  t.same(door.upstreamSaw(), forwarded);
  t.equal((await door.get('/items/ME', 'X-Request-Id: similar')).status, 404, 'what may be read as another path');
  await until(
    'why it was is known',
    () => door.recent.answer({ request: 'similar' }).exchanges[0]?.setting === 'similar_paths',
  );
  for (const [path, status] of [
    ['/items/a:reset', 404],
    ['/items/me', 405],
    ['/items/a%2Fb', 404],
    ['/items/a%5Cb:reset', 404],
    ['/items/7/..%2f..%2fadmin', 404],
    ['/compare/...v2', 404],
    ['/compare/a%2F...b', 404],
    ['/compare/%ff...b', 404],
    ['/items//7', 404],
    ['/caf/7', 404],
    ['/items/%00', 400],
  ] as const)
    t.equal((await door.get(path)).status, status, path);
  t.equal((await door.get('/items/x/../7')).status, 200, 'dots are gone before it is matched');
  t.same(door.upstreamSaw(), [...forwarded, '/items/7']);
});

t.test('without a contract only a preflight is answered here; any other OPTIONS is forwarded', (t) => {
  const { routes } = loadContract(null);
  const route = createRoute(routes, () => true, Date.now);
  const operationFor = (...headers: readonly string[]): string => {
    const { exchange } = makeExchange({ method: 'OPTIONS', path: '/a', headers });
    return route(exchange as unknown as Stripped).requirements.operation;
  };
  const method = ['Access-Control-Request-Method', 'PUT'];
  t.equal(operationFor('Origin', 'https://a.example', ...method), 'options');
  for (const fields of [[], method, ['Origin', 'https://a.example']])
    t.not(operationFor(...fields), 'options', fields.join());
  t.end();
});
