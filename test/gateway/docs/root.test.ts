import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { parse, stringify } from 'yaml';
import { packageRoot } from '../../../src/shared/package-root.js';
import { startGateway, type Gateway } from '../../servers/gateway.js';
import { startUpstream } from '../../servers/upstream.js';

const X_PETGATE = { upstream: 'pets', cost: 0, scope: null, stability: null };
const BROWSER = 'text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8';

function ask({ url }: Gateway, accept: string, path = '/', method = 'GET', key = ''): Promise<Response> {
  const authorization: Record<string, string> = key === '' ? {} : { authorization: `Bearer ${key}` };
  return fetch(url + path, { method, redirect: 'manual', headers: { accept, ...authorization } });
}

t.test('a browser at / is led to the reference, free of charge; all else stays unknown', async (t) => {
  const gateway = await startGateway(t);
  const { key } = await gateway.createKey({ plan: 'free' });
  for (const accept of [BROWSER, 'text/html', 'TEXT/HTML;q=0.5', 'application/json, text/html'])
    for (const method of ['GET', 'HEAD']) {
      const led = await ask(gateway, accept, '/?utm=x', method);
      t.equal(led.status, 302, accept);
      t.equal(led.headers.get('location'), '/docs');
      t.match(led.headers.get('vary'), 'Accept');
      t.ok(led.headers.get('x-ratelimit-limit'), 'with the figures of every answer');
    }
  const remaining = async (): Promise<string | null> =>
    (await ask(gateway, 'text/html', '/', 'GET', key)).headers.get('x-ratelimit-remaining');
  t.equal(await remaining(), await remaining());
  for (const accept of ['*/*', 'text/*', 'application/json', 'text/html;q=0', 'text/html-x', '']) {
    t.equal((await ask(gateway, accept)).status, 401, accept);
    t.equal((await ask(gateway, accept, '/', 'GET', key)).status, 404, accept);
  }
  t.equal((await ask(gateway, BROWSER, '/', 'POST', key)).status, 404);
  t.equal((await ask(gateway, BROWSER, '/pets', 'GET', key)).status, 404, 'and no other path leads anywhere');
});

t.test('what the contract has at / is what is there, and without a reference nobody is led to it', async (t) => {
  const upstream = await startUpstream(t);
  const shipped = parse(readFileSync(join(packageRoot, 'config/openapi.yaml'), 'utf8')) as {
    paths: Record<string, { get: { operationId: string } }>;
  };
  const folder = t.testdir({});
  const startWith = (name: string, paths: object, more: object = {}): Promise<Gateway> => {
    const contract = join(folder, name);
    writeFileSync(contract, stringify({ ...shipped, paths }, { aliasDuplicateObjects: false }));
    return startGateway(t, { config: { contract, ...more }, environment: { PETS_URL: upstream.url } });
  };
  const { '/docs': docs, ...others } = shipped.paths;
  const root = { ...docs, get: { ...docs!.get, operationId: 'getRoot', 'x-petgate': X_PETGATE } };
  const own = await startWith('own.yaml', { ...shipped.paths, '/': root });
  t.equal((await ask(own, BROWSER)).status, 200);
  t.equal(upstream.seen.length, 1, 'the upstream answered');
  t.equal((await ask(await startWith('none.yaml', others, { own_paths: 'off' }), BROWSER)).status, 401);
  const added = await ask(await startWith('added.yaml', others, { own_paths: '/-' }), BROWSER);
  t.equal(added.headers.get('location'), '/-/docs', 'the reference that the gateway adds');
});
