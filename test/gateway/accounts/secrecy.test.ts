import { createHash } from 'node:crypto';
import t from 'tap';
import type { Test } from 'tap';
import { makeToken } from '../../../src/gateway/accounts/token.js';
import { petgate, surroundings } from '../../cli/programs.js';
import { ADMIN_TOKEN, startGateway, type Gateway } from '../../servers/gateway.js';
import { exchangeRaw } from '../../servers/raw.js';
import { startRedis, type RedisServer } from '../../servers/redis.js';
import { startUpstream } from '../../servers/upstream.js';
import { filesIn } from './store.js';

const DAY = new Date().toISOString().slice(0, 10);

/**
 * Everything a gateway gives away while its keys live: made, used well and badly, rotated, brought in, banned, ended.
 */
async function live(t: Test, gateway: Gateway) {
  let seen = '';
  const foreign = ['sk-live-0123456789abcdefghij', 'sk-live-zyxwvutsrqponmlkjihg'] as const;
  const { id, key } = await gateway.createKey({ plan: 'free', name: 'My app' });
  const imported = await gateway.createKey({ plan: 'free', name: 'Old app', key: foreign[0] });
  const hash = createHash('sha256').update(foreign[1]).digest('hex');
  const ask = async (
    method: string,
    path: string,
    body?: unknown,
    headers: Readonly<Record<string, string>> = { authorization: `Bearer ${ADMIN_TOKEN}` },
    base = gateway.adminUrl,
  ): Promise<string> => {
    const answer = await fetch(base + path, {
      method,
      headers,
      ...(body === undefined ? {} : { body: typeof body === 'string' ? body : JSON.stringify(body) }),
    });
    const text = await answer.text();
    seen += `${answer.status} ${JSON.stringify([...answer.headers])}\n${text}\n`;
    return text;
  };
  t.match(
    await ask('POST', '/admin/v1/keys/import', JSON.stringify({ hash, plan: 'free', name: 'Older app' })),
    '"imported":1',
  );
  const rotated = (await gateway.admin('POST', `/admin/v1/keys/${id}/rotate`)).body as { key: string };
  const wrong = makeToken('development', id).token;
  const tokens = [key, rotated.key, wrong, ...foreign];

  for (const token of tokens) {
    for (const [path, headers] of [
      ['/v1/pets', { authorization: `Bearer ${token}` }],
      ['/v1/pets', { authorization: `bearer  ${token} ` }],
      ['/v1/pets', { authorization: `Bearer ${token}x` }],
      ['/v1/pets', { authorization: `Token ${token}` }],
      ['/v1/pets', { authorization: `Basic ${token}` }],
      ['/v1/pets', { 'x-api-key': token }],
      [`/v1/pets?api_key=${token}`, {}],
      [`/v1/pets/${token}`, { authorization: `Bearer ${token}` }],
      [`/${token}`, {}],
      ['/v1/usage', { authorization: `Bearer ${token}` }],
    ] as const) {
      await ask('GET', path, undefined, headers, gateway.url);
    }
    const json = { authorization: `Bearer ${token}`, 'content-type': 'application/json' };
    await ask('POST', '/v1/pets', '{', json, gateway.url);
    const twice =
      `GET /v1/pets HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${token}\r\nAuthorization: Bearer ` +
      `${token}\r\nConnection: close\r\n\r\n`;
    const broken = `GET /v1/pets HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${token}\r\nbad header\r\n\r\n`;
    for (const bytes of [twice, broken])
      seen += JSON.stringify((await exchangeRaw(gateway.port, bytes)).map(({ headers, body }) => [...headers, body]));
    for (const path of [
      `/admin/v1/keys/${token}`,
      `/admin/v1/keys/${token}/history`,
      `/admin/v1/bans/${token}`,
      `/admin/v1/keys?name=${token}`,
      `/admin/v1/keys?${token}=1`,
      `/admin/v1/keys?cursor=${token}`,
    ])
      await ask('GET', path);
    for (const body of [{ plan: 'free', name: 'x', key: token }, `{"${token}":1,"${token}":2}`, `{"key":"${token}" x`])
      await ask('POST', '/admin/v1/keys', body);
    for (const body of [{ name: token }, { plan: token }, { scopes: [token] }, { [token]: 1 }])
      if (token.startsWith('ptg_')) await ask('PATCH', `/admin/v1/keys/${id}`, body);
    await ask('POST', '/admin/v1/keys/import', `{"hash":"${token}","plan":"${token}"}\n{"${token}":1}\n${token}`);
    await ask('GET', '/admin/v1/keys', undefined, { authorization: `Bearer ${token}` });
  }
  const env = surroundings(gateway.dataFolder, { PETGATE_ADMIN_TOKEN: ADMIN_TOKEN });
  for (const args of [
    ['keys', 'list'],
    ['keys', 'show', key],
    ['keys', 'history', imported.id],
    ['store', 'export'],
    ['keys', 'history', id],
  ]) {
    const { stdout, stderr } = await petgate(['--admin-url', gateway.adminUrl, ...args], env);
    seen += stdout + stderr;
  }
  await ask('PUT', `/admin/v1/bans/${id}`, { for: '1h', reason: 'a test' });
  for (const path of [
    '/admin/v1/bans',
    '/metrics',
    '/readyz',
    `/admin/v1/usage?from=${DAY}&to=${DAY}&by=key,plan,operation,day`,
    `/admin/v1/usage?format=csv&by=key`,
    '/admin/v1/store/export',
  ])
    await ask('GET', path);
  await ask('DELETE', `/admin/v1/keys/${imported.id}`);
  return {
    // The proof is the 26 characters before the checksum; an id is public.
    secrets: [ADMIN_TOKEN, ...tokens.map((token) => (token.startsWith('ptg_') ? token.slice(-32, -6) : token))],
    seen: () => seen + gateway.program.output(),
  };
}

function find(t: Test, where: string, text: string, secrets: readonly string[]): void {
  const found = secrets
    .filter((secret) => text.includes(secret))
    .map((secret) => text.slice(text.indexOf(secret) - 200, text.indexOf(secret)));
  t.same(found, [], `no secret in ${where}`);
}

/** All names and values, and every command Redis was given. */
async function bytesIn(redis: RedisServer): Promise<string> {
  const all: unknown[] = [await redis.command('SLOWLOG', 'GET', '-1')];
  for (const name of (await redis.command('KEYS', '*')) as string[]) {
    const type = String(await redis.command('TYPE', name));
    const read = {
      hash: ['HGETALL', name],
      list: ['LRANGE', name, 0, -1],
      zset: ['ZRANGE', name, 0, -1],
      string: ['GET', name],
    }[type];
    if (read === undefined) throw new Error(`a ${type}: how is it read?`);
    all.push(name, await redis.command(read[0] as string, ...read.slice(1)));
  }
  return JSON.stringify(all);
}

const CONFIG = { keys: { accept_imported: true }, log: { level: 'trace' } };

t.test(
  'embedded: no key and no admin token stands in any answer, log, metric or error, nor in any file of the data folder',
  async (t) => {
    const upstream = await startUpstream(t);
    const gateway = await startGateway(t, { config: CONFIG, environment: { PETS_URL: upstream.url } });
    const { secrets, seen } = await live(t, gateway);
    const before = filesIn(gateway.dataFolder);
    await gateway.program.stop();
    const text = seen();
    t.ok(
      text.includes('My app') && text.includes('"msg":"admin change"') && text.includes('petgate_'),
      'answers, log and metrics were looked at',
    );
    find(t, 'answers, log and metrics', text, secrets);
    for (const kept of [before, filesIn(gateway.dataFolder)]) {
      t.ok(kept.includes('Older app'), 'records are in these files in plain text');
      find(t, 'the data folder', kept, secrets);
    }
    const credentials = JSON.stringify(upstream.seen.map(({ headers }) => headers.authorization));
    find(t, 'what the upstream was notified of Authorization', credentials, secrets);
  },
);

t.test('redis: the same, nor in any name, value or command of Redis', async (t) => {
  const upstream = await startUpstream(t);
  const redis = await startRedis({ config: ['slowlog-log-slower-than 0', 'slowlog-max-len 100000'] });
  t.teardown(() => redis.stop());
  const gateway = await startGateway(t, {
    config: { ...CONFIG, store: { deadline: '10s' } },
    environment: { PETS_URL: upstream.url, REDIS_URL: redis.url },
  });
  const { secrets, seen } = await live(t, gateway);
  const kept = await bytesIn(redis);
  await gateway.program.stop();
  t.ok(kept.includes('Older app') && kept.includes('evalsha'), 'records and commands were looked at');
  find(t, 'Redis', kept, secrets);
  find(t, 'answers, log and metrics', seen(), secrets);
  find(t, 'the data folder', filesIn(gateway.dataFolder), secrets);
});
