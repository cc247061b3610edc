import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import type { Test } from 'tap';
import { packageRoot } from '../../../src/shared/package-root.js';
import { checkHonest } from '../../answers/honest.js';
import { exchangeRaw, type RawAnswer } from '../../servers/raw.js';
import { startUpstream } from '../../servers/upstream.js';
import { begin, dataFolder, petgate, surroundings } from '../programs.js';
import { end, ready } from './ready.js';

/** In a folder of its own, which is all that it knows. */
async function startIn(t: Test, folder: string, args: readonly string[], more: NodeJS.ProcessEnv = {}) {
  const env = { ...surroundings(folder, more), PETGATE_DATA: '' };
  const running = begin(t, ['start', ...args], env, folder);
  const url = (await ready(running)).get('gateway')!;
  return { running, url, shown: /curl -i (?:.*)Bearer (ptg_\w+)' (.*)$/m.exec(running.output())?.slice(1) ?? [] };
}

async function ask(t: Test, url: string, key: string, line: string, body = ''): Promise<RawAnswer> {
  const { host, port } = new URL(url);
  const credential = key === '' ? '' : `Authorization: Bearer ${key}\r\n`;
  const length = body === '' ? '' : `Content-Length: ${body.length}\r\n`;
  const request = `${line} HTTP/1.1\r\nHost: ${host}\r\n${credential}${length}Connection: close\r\n\r\n${body}`;
  const [answer] = await exchangeRaw(Number(port), request, 1);
  checkHonest(t, answer!, line);
  return answer!;
}

t.test('without a contract every path is forwarded, and counted by its method', async (t) => {
  const upstream = await startUpstream(t);
  const folder = dataFolder(t);
  const { running, url, shown } = await startIn(t, folder, ['--upstream', upstream.url]);
  const [key = '', address] = shown;
  t.equal(address, `${url}/`);
  t.notMatch(running.output(), /ready {2}pets/);
  t.match(running.output(), `Data: ${join(folder, 'data')}\n`);
  const forwarded = async (line: string, body?: string): Promise<void> =>
    void t.equal((await ask(t, url, key, line, body)).status, 200, line);
  await forwarded('GET /');
  await forwarded('HEAD /a/b//c/');
  await forwarded('POST /a%2Fb?x=1', 'hello');
  await forwarded('DELETE /_petgate/other', 'gone');
  await forwarded('GET /a/../../b');
  t.strictSame(
    upstream.seen.map(({ method, url, body, headers }) => [method, url, body, headers.authorization]),
    [
      ['GET', '/', '', undefined],
      ['HEAD', '/a/b//c/', '', undefined],
      ['POST', '/a%2Fb?x=1', 'hello', undefined],
      ['DELETE', '/_petgate/other', 'gone', undefined],
      ['GET', '/b', '', undefined],
    ],
    'as it came, but for the key; no token of ours',
  );
  t.equal((await ask(t, url, key, 'BREW /a')).status, 400);
  t.equal((await ask(t, url, key, 'TRACE /a')).status, 405);
  t.equal((await ask(t, url, '', 'GET /a')).status, 401);
  t.equal((await ask(t, url, key, 'GET /a%00b')).status, 400);
  t.equal(upstream.seen.length, 5, 'and nothing of that reached it');
  for (const line of ['PROPFIND /a', 'QUERY /a', 'OPTIONS /a', 'GET /with-a-body']) await forwarded(line, 'x=1');
  t.strictSame(
    upstream.seen.slice(5).map(({ method, body, headers }) => [method, body, headers.connection]),
    ['PROPFIND', 'QUERY', 'OPTIONS', 'GET'].map((method) => [method, 'x=1', 'close']),
    'whatever the method; where a server may not expect a body, its connection ends with it',
  );
  const usage = await ask(t, url, key, 'GET /_petgate/usage');
  t.match(JSON.parse(usage.body), { plan: 'free', windows: { minute: { remaining: 50 } } });
  for (const path of ['docs', 'docs/page.js', 'openapi.json'])
    t.equal((await ask(t, url, '', `GET /_petgate/${path}`)).status, 200, path);
  t.equal(running.output().split(key).length, 3, 'the key is shown, with the line to paste, and never again');
  const admin = { PETGATE_DATA: '', ADMIN_PORT: /admin API: http:\/\/127\.0\.0\.1:(\d+)/.exec(running.output())![1] };
  const { stdout } = await petgate(
    ['usage', '--by', 'operation', '--json'],
    { ...surroundings(folder), ...admin },
    '',
    folder,
  );
  t.match(stdout, '"DELETE"');
  await end(t, running);

  const again = await startIn(t, folder, [], { UPSTREAM_URL: upstream.url });
  t.match(
    again.running.output(),
    /The data of the last start is kept\. Another key:\n {2}ADMIN_PORT=\S+ .*keys create /,
  );
  t.notMatch(again.running.output(), 'ptg_');
  const { headers, status } = await ask(t, again.url, key, 'GET /b');
  t.equal(status, 200);
  t.equal(headers.get('x-ratelimit-remaining'), '49', 'of the same key');
  await end(t, again.running);
  for (const file of readdirSync(folder, { recursive: true, withFileTypes: true }).filter((each) => each.isFile()))
    t.notOk(readFileSync(join(file.parentPath, file.name)).includes(key), file.name);
});

const AWKWARD = {
  openapi: '3.0.3',
  info: { title: "A 'foreign' API", version: '1' },
  servers: [{ url: 'https://api.example.com/v2/' }],
  security: [{ theirs: [] }],
  components: { securitySchemes: { theirs: { type: 'apiKey', in: 'header', name: 'X-Key' } } },
  paths: {
    '/items/{id}': {
      get: {
        operationId: 'a"b\\c|d',
        parameters: [{ name: 'id', in: 'path', required: true, schema: { type: 'integer', example: 7 } }],
      },
    },
    '/items/{id}:archive': { post: { operationId: '__proto__' } },
    '/usage': { get: { operationId: 'getOwnUsage' } },
    '/{a}/{b}': { delete: { operationId: 'prüfen' } },
    '/search': { get: { parameters: [{ name: 'q', in: 'query', required: true }] } },
  },
};

t.test('a document as it is: its operations are served, and ours beside them, where own_paths says', async (t) => {
  const upstream = await startUpstream(t);
  const folder = dataFolder(t);
  writeFileSync(join(folder, 'api.json'), JSON.stringify(AWKWARD));
  writeFileSync(join(folder, 'gateway.yaml'), 'own_paths: /~gate\nmetrics: { operations: 3 }\ndata: here\n');
  const plans = readFileSync(join(packageRoot, 'config/plans.yaml'));
  writeFileSync(join(folder, 'plans.yaml'), plans);
  const { running, url, shown } = await startIn(t, folder, ['--upstream', upstream.url, '--contract', 'api.json'], {
    PETGATE_CONFIG: 'gateway.yaml',
  });
  t.match(running.output(), 'credentials: [{"header":"X-Key"}]', 'what the document says of keys is proposed');
  const [key = '', address] = shown;
  t.equal(address, `${url}/v2/usage`, 'a GET without anything to fill in');
  t.ok(existsSync(join(folder, 'here')), 'settings say where the data is');
  t.match(running.output(), `Docs: ${url}/~gate/docs\n`);
  for (const [line, status] of [
    ['GET /v2/items/7', 200],
    ['GET /v2/items/x', 404],
    ['POST /v2/items/7:archive', 200],
    ['GET /v2/usage', 200],
    ['DELETE /v2/x/y', 200],
    ['GET /v2/x/y', 405],
    ['GET /items/7', 404],
    ['GET /_petgate/usage', 404],
    ['GET /~gate/usage', 200],
  ] as const)
    t.equal((await ask(t, url, key, line)).status, status, line);
  t.equal(upstream.seen.length, 4);
  const served = JSON.parse((await ask(t, url, '', 'GET /~gate/openapi.json')).body) as typeof AWKWARD;
  t.strictSame(Object.keys(served.paths).toSorted(), [
    '/v2/items/{id}',
    '/v2/items/{id}:archive',
    '/v2/search',
    '/v2/usage',
    '/v2/{a}/{b}',
    '/~gate/docs',
    '/~gate/docs/{file}',
    '/~gate/openapi.json',
    '/~gate/usage',
  ]);
  t.strictSame(served.servers, [{ url: '/' }]);
  await end(t, running);
});

t.test('what can not be started says what to do', async (t) => {
  const folder = dataFolder(t);
  writeFileSync(join(folder, 'api.json'), JSON.stringify({ ...AWKWARD, servers: [{ url: '/_petgate' }] }));
  const refused = async (args: readonly string[], says: RegExp): Promise<void> => {
    const { code, stdout, stderr } = await petgate(['start', ...args], surroundings(folder));
    t.equal(code, 1);
    t.match(stderr, says);
    t.equal(stdout, '');
  };
  const contract = join(folder, 'api.json');
  await refused(['--contract', contract], /--upstream http:\/\/localhost:3000/);
  await refused(['--upstream', 'ftp://x'], /--upstream: .*must be http:/);
  await refused(['--upstream', 'http://127.0.0.1:9', '--contract', join(folder, 'none')], /none: no such file/);
  await refused(['--upstream', 'http://127.0.0.1:9', '--contract', contract], /api\.json:1:\d+: .*own_paths/);
});

t.test('--upstream may leave out http://, and no other upstream is watched', async (t) => {
  const upstream = await startUpstream(t);
  const folder = dataFolder(t);
  const { running, url, shown } = await startIn(t, folder, ['--upstream', new URL(upstream.url).host]);
  t.equal((await ask(t, url, shown[0]!, 'GET /')).status, 200);
  const admin = /admin API: (\S+)/.exec(running.output())![1]!;
  const { parts } = (await (await fetch(`${admin}/readyz`)).json()) as { parts: Readonly<Record<string, unknown>> };
  t.same(
    Object.keys(parts).filter((name) => name.startsWith('upstream:')),
    ['upstream:default'],
  );
  await end(t, running);
});
