import { readFileSync, renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { startGateway } from '../servers/gateway.js';
import { NO_BAN } from '../servers/plans.js';
import { temporaryFolder } from '../servers/program.js';
import { until } from '../servers/until.js';
import { startUpstream } from '../servers/upstream.js';

const PLANS = {
  free: { limits: { minute: 100_000, day: 100_000 }, ban: NO_BAN },
  anonymous: { limits: { minute: 10, day: 10 }, ban: NO_BAN },
};
const contractOf = (...paths: readonly string[]): string =>
  JSON.stringify({ openapi: '3.1.0', paths: Object.fromEntries(paths.map((path) => [path, { get: {} }])) });

for (const workers of ['1', '2']) {
  t.test(
    `a changed contract holds, a broken one is refused, what is in flight ends (workers: ${workers})`,
    async (t) => {
      const upstream = await startUpstream(t);
      const release: (() => void)[] = [];
      upstream.handle = ({ url }, response) => {
        if (url === '/slow') release.push(() => response.end('late'));
        else response.end('[]');
      };
      const folder = temporaryFolder(t);
      const write = (name: string, text: string): void => {
        writeFileSync(join(folder, `${name}.new`), text);
        renameSync(join(folder, `${name}.new`), join(folder, name));
      };
      write('api.json', contractOf('/slow', '/old'));
      write('policy.yaml', 'overlay: 1.0.0\nactions: []\n');
      const gateway = await startGateway(t, {
        plans: PLANS,
        config: {
          contract: join(folder, 'api.json'),
          overlays: [join(folder, 'policy.yaml')],
          upstreams: { default: { addresses: [upstream.url] } },
        },
        environment: { PETGATE_WORKERS: workers },
      });
      const { key } = await gateway.createKey({ plan: 'free' });
      const headers = { authorization: `Bearer ${key}` };
      const statusOf = async (path: string): Promise<number> => {
        const answer = await fetch(gateway.url + path, { headers });
        await answer.arrayBuffer();
        return answer.status;
      };
      const settled = async (path: string, status: number): Promise<boolean> =>
        (await Promise.all(Array.from({ length: 8 }, () => statusOf(path)))).every((found) => found === status);

      t.ok(await settled('/old', 200));
      const slow = fetch(`${gateway.url}/slow`, { headers });
      await until('a request is in flight', () => release.length === 1);
      write('api.json', contractOf('/new', '/n{rest}'));
      await until('the new contract holds', async () => (await settled('/new', 200)) && settled('/old', 404));
      release[0]!();
      t.equal(await (await slow).text(), 'late');

      write('policy.yaml', `overlay: 1.0.0\nactions: [{ target: "$.paths['/new']", remove: true }]\n`);
      await until('the overlay holds, and no template opens what it removes', () => settled('/new', 404));
      t.ok(await settled('/next', 200));

      const refused = (): number =>
        gateway.program.lines().filter(({ level, msg }) => level === 'error' && /refused/.test(String(msg))).length;
      write('policy.yaml', 'overlay: 1.0.0\nactions: [{ target: nonsense, remove: true }]\n');
      await until('the broken overlay is refused', () => refused() === 1);
      t.match(gateway.program.output(), /policy\.yaml:2:\d+: actions\.0\.target: no JSONPath/);
      t.ok(await settled('/new', 404), 'the one before stays');
      write('policy.yaml', 'overlay: 1.0.0\nactions: []\n');
      await until('the mended one holds', () => settled('/new', 200));

      const settings = join(gateway.dataFolder, 'config/gateway.yaml');
      writeFileSync(settings, readFileSync(settings, 'utf8').replace('policy.yaml', 'other.yaml'));
      write('other.yaml', 'overlay: 1.0.0\n');
      await until('an overlay that was just named is refused', () => refused() >= 2);
      write('other.yaml', `overlay: 1.0.0\nactions: [{ target: $, update: { x-petgate: { cost: 500000 } } }]\n`);
      await until('what no plan can pay is refused', () => /500000, and the minute/.test(gateway.program.output()));
      write(
        'other.yaml',
        `overlay: 1.0.0\nactions: [{ target: "$.paths['/new']", update: { x-petgate: { cost: 7 } } }]\n`,
      );
      await until('put right, it holds', async () => {
        const answer = await fetch(`${gateway.url}/new`, { headers });
        await answer.arrayBuffer();
        const again = await fetch(`${gateway.url}/new`, { headers });
        await again.arrayBuffer();
        const [before, after] = [answer, again].map((one) => Number(one.headers.get('x-ratelimit-remaining')));
        return before! - after! === 7;
      });
      writeFileSync(settings, readFileSync(settings, 'utf8').replace('other.yaml', 'policy.yaml'));
      await until('the first one holds again', () => settled('/new', 200));

      const { body } = await gateway.admin('POST', '/admin/v1/keys', { plan: 'free', name: 'x', scopes: ['new:read'] });
      t.match(body, { code: /./ }, 'there is no such scope yet');
      write('policy.yaml', `overlay: 1.0.0\nactions: [{ target: $, update: { x-petgate: { scope: 'new:read' } } }]\n`);
      await until('keys can have a scope that came with the contract', async () => {
        const made = await gateway.admin('POST', '/admin/v1/keys', { plan: 'free', name: 'x', scopes: ['new:read'] });
        return made.status === 201;
      });
    },
  );
}
