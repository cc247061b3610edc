import { createHash } from 'node:crypto';
import { request } from 'node:http';
import t from 'tap';
import type { Test } from 'tap';
import { ADMIN_TOKEN, startGateway } from '../../servers/gateway.js';
import type { GatewayOptions } from '../../servers/gateway.js';
import { temporaryFolder } from '../../servers/program.js';
import { startRedis } from '../../servers/redis.js';
import { startUpstream } from '../../servers/upstream.js';
import { until } from '../../servers/until.js';

// An abandoned import is let go after some 12 s.
t.setTimeout(90_000);

const tokens = Array.from({ length: 5_000 }, (_, n) => `old-key-${n}-0123456789abcdef`);
const lines = tokens.map(
  (token, n) =>
    `${JSON.stringify({ hash: createHash('sha256').update(token).digest('hex'), plan: 'free', name: `old ${n}` })}\n`,
);
const CONFIG = { keys: { accept_imported: true } };

async function statuses(url: string): Promise<readonly number[]> {
  const sample = tokens.filter((_, n) => n % 250 === 0);
  return Promise.all(
    sample.map((token) =>
      fetch(`${url}/v1/pets`, { headers: { authorization: `Bearer ${token}` } }).then(({ status }) => status),
    ),
  );
}

/** Sends all but the end of the file, kills the gateway, starts it again, and runs the import once more. */
async function killAndRepeat(t: Test, options: GatewayOptions): Promise<void> {
  const dataFolder = temporaryFolder(t);
  const first = await startGateway(t, { ...options, dataFolder });
  const req = request(`${first.adminUrl}/admin/v1/keys/import`, {
    method: 'POST',
    headers: { authorization: `Bearer ${ADMIN_TOKEN}` },
  });
  req.on('error', () => undefined).write(lines.slice(0, 4_500).join(''));
  const second = (): Promise<{ status: number }> => first.admin('POST', '/admin/v1/keys/import');
  await until('the import is under way', async () => (await second()).status === 409);
  t.notOk((await statuses(first.url)).includes(200), 'nothing of it is good while it runs');
  await first.program.stop('SIGKILL');

  const next = await startGateway(t, { ...options, dataFolder });
  t.notOk((await statuses(next.url)).includes(200), 'nor after the kill');
  t.same((await next.admin('GET', '/admin/v1/keys')).body, { keys: [], cursor: null });
  let answer: unknown;
  await until(
    'the import goes through',
    async () => {
      const response = await fetch(`${next.adminUrl}/admin/v1/keys/import`, {
        method: 'POST',
        headers: { authorization: `Bearer ${ADMIN_TOKEN}` },
        body: lines.join(''),
      });
      answer = await response.json();
      return response.status === 200;
    },
    30_000,
  );
  t.same(answer, { imported: tokens.length, unchanged: 0 });
  t.same([...new Set(await statuses(next.url))], [200], 'now all of it is');
}

t.test(
  'kill -9 in the middle of an import: none of it is good, and the same file once more brings in all',
  { timeout: 60_000 },
  async (t) => {
    const upstream = await startUpstream(t);
    const redis = await startRedis();
    t.teardown(() => redis.stop());
    await Promise.all([
      killAndRepeat(t, { config: CONFIG, environment: { PETS_URL: upstream.url } }),
      killAndRepeat(t, {
        config: { ...CONFIG, store: { deadline: '1s' } },
        environment: { PETS_URL: upstream.url, REDIS_URL: redis.url },
      }),
    ]);
  },
);
