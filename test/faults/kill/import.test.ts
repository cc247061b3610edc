import { createHash } from 'node:crypto';
import { request } from 'node:http';
import t from 'tap';
import type { Test } from 'tap';
import { ADMIN_TOKEN, startGateway, type Gateway, type GatewayOptions } from '../../servers/gateway.js';
import { importedIdOf } from '../../../src/gateway/accounts/token.js';
import { temporaryFolder } from '../../servers/program.js';
import { redisFor } from '../../servers/redis.js';
import { startUpstream } from '../../servers/upstream.js';
import { until } from '../../servers/until.js';

const tokens = Array.from({ length: 5_000 }, (_, n) => `old-key-${n}-0123456789abcdef`);
const lines = tokens.map(
  (token, n) =>
    `${JSON.stringify({ hash: createHash('sha256').update(token).digest('hex'), plan: 'free', name: `old ${n}` })}\n`,
);
const AS_OPERATOR = { method: 'POST', headers: { authorization: `Bearer ${ADMIN_TOKEN}` } };
const CONFIG = { keys: { accept_imported: true } };

function idOf(token: string): string {
  return importedIdOf(createHash('sha256').update(token).digest('base64url'));
}

async function statuses(url: string): Promise<readonly number[]> {
  const sample = tokens.filter((_, n) => n % 250 === 0);
  return Promise.all(
    sample.map((token) =>
      fetch(`${url}/v1/pets`, { headers: { authorization: `Bearer ${token}` } }).then(({ status }) => status),
    ),
  );
}

interface Result {
  readonly imported: number;
  readonly unchanged: number;
}

async function importAll({ adminUrl }: Gateway): Promise<Result> {
  const response = await fetch(`${adminUrl}/admin/v1/keys/import`, { ...AS_OPERATOR, body: lines.join('') });
  return (await response.json()) as Result;
}

/** Sends all but the end of the file, kills the gateway, starts it again, and runs the import once more. */
async function killAndRepeat(t: Test, options: GatewayOptions): Promise<string> {
  const dataFolder = temporaryFolder(t);
  const first = await startGateway(t, { ...options, dataFolder });
  const req = request(`${first.adminUrl}/admin/v1/keys/import`, AS_OPERATOR);
  req.on('error', () => undefined).write(lines.slice(0, 4_500).join(''));
  await until('the import is under way', async () => (await statuses(first.url)).includes(200));
  await first.program.stop('SIGKILL');

  const next = await startGateway(t, { ...options, dataFolder });
  const { imported, unchanged } = await importAll(next);
  t.ok(unchanged > 0 && imported >= 500, 'it goes on where it was killed', { imported, unchanged });
  t.equal(imported + unchanged, tokens.length);
  t.same([...new Set(await statuses(next.url))], [200], 'all keys are valid');
  const exported = await fetch(`${next.adminUrl}/admin/v1/store/export`, { headers: AS_OPERATOR.headers });
  const whole = await exported.text();
  const names = [...whole.matchAll(/^{"kind":"key","record":{[^}]*"name":"([^"]*)"/gm)].map(([, name]) => name);
  t.same(names.sort(), tokens.map((_, n) => `old ${n}`).sort(), 'each is there once');
  const { history } = (await next.admin('GET', `/admin/v1/keys/${idOf(tokens[0]!)}/history`)).body as {
    history: unknown[];
  };
  t.equal(history.length, 1, 'and was imported once');
  t.same(await importAll(next), { imported: 0, unchanged: tokens.length }, 'once more changes nothing');
  return whole;
}

/** The same with an export of a whole store, which ends where it would have ended without a kill. */
async function killAndRestore(t: Test, options: GatewayOptions, whole: string): Promise<void> {
  const dataFolder = temporaryFolder(t);
  const first = await startGateway(t, { ...options, dataFolder });
  const req = request(`${first.adminUrl}/admin/v1/store/import`, AS_OPERATOR);
  req.on('error', () => undefined).write(whole.slice(0, Math.floor(whole.length * 0.9)));
  await until('the import is under way', async () => (await statuses(first.url)).includes(200));
  await first.program.stop('SIGKILL');

  const next = await startGateway(t, { ...options, dataFolder });
  const again = async (): Promise<unknown> =>
    (await fetch(`${next.adminUrl}/admin/v1/store/import`, { ...AS_OPERATOR, body: whole })).json();
  const { added, unchanged, sums } = (await again()) as { added: number; unchanged: number; sums: object };
  t.ok(unchanged > 0 && added >= 400, 'it goes on where it was killed', { added, unchanged });
  t.match(sums, { keys: tokens.length });
  t.match(await again(), { added: 0, changed: 0, unchanged: tokens.length, raised: 0 });
  t.same([...new Set(await statuses(next.url))], [200], 'all keys are valid');
}

t.test('kill -9 in the middle of an import: the same file once more completes it', async (t) => {
  const upstream = await startUpstream(t);
  const redis = await redisFor(t);
  const embedded = { config: CONFIG, environment: { PETS_URL: upstream.url } };
  const shared = {
    config: { ...CONFIG, store: { deadline: '1s' } },
    environment: { PETS_URL: upstream.url, REDIS_URL: redis.url },
  };
  const whole = await killAndRepeat(t, embedded);
  await killAndRepeat(t, shared);
  await killAndRestore(t, embedded, whole);
});

t.test('kill -9 in the middle of an import into Redis of all that a store keeps', async (t) => {
  const upstream = await startUpstream(t);
  const redis = await redisFor(t);
  const environment = { PETS_URL: upstream.url };
  const from = await startGateway(t, { config: CONFIG, environment });
  await importAll(from);
  const exported = await fetch(`${from.adminUrl}/admin/v1/store/export`, { headers: AS_OPERATOR.headers });
  await killAndRestore(
    t,
    { config: { ...CONFIG, store: { deadline: '1s' } }, environment: { ...environment, REDIS_URL: redis.url } },
    await exported.text(),
  );
});
