import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { packageRoot } from '../../src/shared/package-root.js';
import { issueCertificate } from '../servers/certificate.js';
import { scrape, type Exposition } from '../servers/exposition.js';
import { startGateway } from '../servers/gateway.js';
import { startRedis } from '../servers/redis.js';
import { startPets } from '../servers/pets.js';
import { temporaryFolder } from '../servers/program.js';

const page = readFileSync(join(packageRoot, 'docs/reference/metrics.md'), 'utf8');

/** What the page's tables say of `name{label,label}` and its type: `name type labels`. */
const told = [...page.matchAll(/^\| `(petgate_\w+)(?:\{([\w,]+)\})?` \| (\w+) \| [^|]+ \|$/gm)].map(
  ([, name = '', labels = '', type = '']) => lineOf(name, type, labels.split(',')),
);

/** Nothing listens there. */
const NOWHERE = 'postgres://127.0.0.1:1/ledger';

function lineOf(name: string, type: string, labels: readonly string[]): string {
  return `${name} ${type} ${[...labels].sort().join(',')}`.trim();
}

function linesOf({ families }: Exposition): readonly string[] {
  return families.map(({ name, type, labels }) => lineOf(name, type, labels));
}

t.test('docs/reference/metrics.md lists every metric there is, with its type and labels, and no other', async (t) => {
  // With Redis there are some more than without.
  const redis = await startRedis();
  t.teardown(() => redis.stop());
  // A Redis that nobody used yet is taken for a new one only if the archive can be asked.
  await (await startGateway(t, { environment: { REDIS_URL: redis.url } })).program.stop();
  const gateway = await startGateway(t, {
    config: { listen: { proxy_protocol: true }, store: { archive: NOWHERE }, trusted_proxies: ['127.0.0.1'] },
    tls: issueCertificate(temporaryFolder(t), 'own'),
    environment: {
      PETGATE_WORKERS: '2',
      REDIS_URL: redis.url,
      PETGATE_EVENTS_URL: 'https://127.0.0.1:1/',
      PETGATE_EVENTS_ALLOW_LOCAL: 'true',
      PETGATE_EVENTS_SECRET: `whsec_${Buffer.alloc(32).toString('base64')}`,
    },
  });
  const pets = await startPets(t);
  await scrape(pets.url);
  const real = [...linesOf(await scrape(gateway.adminUrl)), ...linesOf(await scrape(pets.url))];
  t.strictSame([...told].sort(), [...real].sort());
  t.ok(
    real.every((line) => line.startsWith('petgate_')),
    'all of them are ours',
  );
});
