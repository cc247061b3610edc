import { createServer } from 'node:http';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import type { Test } from 'tap';
import { stringify } from 'yaml';
import { packageRoot } from '../../src/shared/package-root.js';
import { startBrowser } from '../servers/browser.js';
import { startGateway } from '../servers/gateway.js';
import { listen } from '../servers/listen.js';
import { NO_BAN } from '../servers/plans.js';
import type { Teardown } from '../servers/program.js';
import { startUpstream } from '../servers/upstream.js';
import { until } from '../servers/until.js';

const PLANS = {
  free: { limits: { minute: 2, day: 1000 }, ban: NO_BAN },
  anonymous: { limits: { minute: 1000, day: 1000 }, ban: NO_BAN },
};

/** An empty page on an origin of its own; gives that origin. */
async function startPage(t: Teardown): Promise<string> {
  const server = createServer((_request, response) =>
    response.writeHead(200, { 'content-type': 'text/html' }).end('<!doctype html><title>shop</title>'),
  );
  return `http://127.0.0.1:${(await listen(t, server)).port}`;
}

/** What a script saw: status and some fields, or that the browser kept all of it from the script. */
type Seen =
  | { readonly status: number; readonly fields: Readonly<Record<string, string | null>>; readonly code: string | null }
  | 'kept away';

const FIELDS = ['x-ratelimit-remaining', 'retry-after', 'x-request-id', 'ratelimit', 'link', 'location'];

/** Run in the page, as text: asks with fetch, as any script would. */
const script = (url: string, method: string, key: string): string => `fetch(${JSON.stringify(url)}, {
  method: ${JSON.stringify(method)},
  headers: {
    Authorization: ${JSON.stringify(`Bearer ${key}`)},
    'Content-Type': 'application/json',
    'X-Request-Id': 'from-a-page',
    traceparent: '00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-00',
  },
  ...(${JSON.stringify(method)} === 'POST' ? { body: '{}' } : {}),
}).then(async (answer) => ({
  status: answer.status,
  fields: Object.fromEntries(${JSON.stringify(FIELDS)}.map((name) => [name, answer.headers.get(name)])),
  code: answer.ok ? null : (await answer.json()).code,
}), () => 'kept away')`;

t.test(
  'a page on a listed origin uses the API from a real browser and reads the honest fields of a 200 and a 429; ' +
    'one on another origin reads nothing',
  async (t) => {
    const [shop, stranger] = [await startPage(t), await startPage(t)];
    const upstream = await startUpstream(t);
    upstream.handle = (seen, response) => {
      if (seen.method === 'POST')
        response.writeHead(201, { 'content-type': 'application/json', location: '/v1/pets/1' }).end('{}');
      else
        response
          .writeHead(200, {
            'content-type': 'application/json',
            link: '</v1/pets?cursor=a>; rel="next"',
            'access-control-allow-origin': stranger,
          })
          .end('[]');
    };
    const gateway = await startGateway(t, {
      plans: PLANS,
      config: { cors: { origins: [shop] } },
      environment: { PETS_URL: upstream.url },
    });
    const { key } = await gateway.createKey({ plan: 'free' });
    const browser = await startBrowser(t);
    const ask = async (origin: string, method: string, path: string): Promise<Seen> => {
      const page = await browser.newPage();
      await page.goto(origin);
      const seen = await page.evaluate<Seen>(script(gateway.url + path, method, key));
      await page.close();
      return seen;
    };

    t.match(await ask(shop, 'GET', '/v1/pets'), {
      status: 200,
      fields: { 'x-ratelimit-remaining': '1', 'x-request-id': 'from-a-page', ratelimit: /r=1/, link: /next/ },
    });
    t.match(await ask(shop, 'POST', '/v1/pets'), {
      status: 201,
      fields: { 'x-ratelimit-remaining': '0', location: '/v1/pets/1' },
    });
    t.match(await ask(shop, 'GET', '/v1/pets'), {
      status: 429,
      code: 'rate_limited',
      fields: { 'x-ratelimit-remaining': '0', 'retry-after': /^[1-9]\d*$/ },
    });
    t.match(await ask(shop, 'GET', '/v1/usage'), { status: 200 }, 'what the gateway answers itself');
    t.match(
      await ask(shop, 'GET', '/openapi.json'),
      { status: 200 },
      'the contract, for a reference on another origin',
    );
    t.equal(
      await ask(shop, 'DELETE', '/v1/pets'),
      'kept away',
      'a method the path does not have is stopped by the preflight',
    );

    const before = upstream.seen.length;
    t.equal(await ask(stranger, 'GET', '/v1/pets'), 'kept away');
    t.equal(await ask(stranger, 'POST', '/v1/pets'), 'kept away');
    t.equal(upstream.seen.length, before, 'its preflight failed, so nothing was asked and nothing counted');
  },
);

t.test('a changed list of origins holds without a restart, and so does its end', async (t) => {
  const upstream = await startUpstream(t);
  const gateway = await startGateway(t, { environment: { PETS_URL: upstream.url } });
  const file = join(gateway.dataFolder, 'config/gateway.yaml');
  const allowedFor = async (t: Test, cors: unknown, expected: string | null): Promise<void> => {
    writeFileSync(
      file,
      stringify({
        extends: join(packageRoot, 'config/gateway.yaml'),
        plans: join(packageRoot, 'config/plans.yaml'),
        ...(cors === null ? {} : { cors }),
      }),
    );
    await until(
      `${JSON.stringify(cors)} holds`,
      async () =>
        (await fetch(`${gateway.url}/docs`, { headers: { origin: 'https://a.example.com' } })).headers.get(
          'access-control-allow-origin',
        ) === expected,
    );
    t.pass(`${JSON.stringify(cors)}: ${String(expected)}`);
  };
  await allowedFor(t, { origins: ['https://a.example.com'] }, 'https://a.example.com');
  await allowedFor(t, { origins: '*' }, '*');
  await allowedFor(t, { origins: ['https://b.example.com'] }, null);
  await allowedFor(t, { origins: ['https://*.example.com'] }, 'https://a.example.com');
  await allowedFor(t, null, null);
  t.equal((await fetch(`${gateway.url}/v1/usage`)).headers.get('vary'), null, 'nothing of CORS is left');
});
