import t from 'tap';
import type { Test } from 'tap';
import { eraseCustomer, eraseKey } from '../../../../src/gateway/accounts/keys/erase.js';
import { KeyRegistry } from '../../../../src/gateway/accounts/keys/registry.js';
import { ask, PLANS } from '../../../conformance/cast.js';
import { redisEngineFor } from '../../../conformance/redis-engine.js';
import type { RedisServer } from '../../../servers/redis.js';
import { parseToken } from '../../../../src/gateway/accounts/token.js';

const READS: Readonly<Record<string, readonly (string | number)[]>> = {
  string: ['GET'],
  hash: ['HGETALL'],
  list: ['LRANGE', 0, -1],
  set: ['SMEMBERS'],
  zset: ['ZRANGE', 0, -1],
};

/** All names and values in Redis, as one text. */
async function everything(server: RedisServer): Promise<string> {
  const names = (await server.command('KEYS', '*')) as string[];
  const values = await Promise.all(
    names.map(async (name) => {
      const [read = '', ...more] = READS[String(await server.command('TYPE', name))] ?? [];
      return server.command(String(read), name, ...more);
    }),
  );
  return JSON.stringify([names, values].map(String));
}

t.test('after all is erased no name is found anywhere in Redis', async (t: Test) => {
  const { redis: server, engine } = await redisEngineFor(t);
  const registry = new KeyRegistry({
    ...{ engine, plans: () => PLANS, scopes: [], costs: new Map(), environment: 'staging' },
    ...{ acceptImported: false, emitsEvents: true },
  });
  const of = { name: 'Ada & Sons', note: 'Ada pays late' };
  const customer = await registry.customers.create({ ...of, plan: 'free', reference: 'ADA-1' }, 'ops');
  const owned = await registry.create({ name: 'Ada web', customer: customer.id });
  const lone = await registry.create({ ...of, plan: 'free' });
  const grant = { window: 'day', units: 5, until: Date.now() + 3_600_000, note: 'Ada asked' };
  await registry.grant(lone.record.id, grant);
  await registry.customers.grant(customer.id, grant, 'ops');
  await registry.change(lone.record.id, { name: 'Ada again' });
  await registry.ban(lone.record.id, 3_600_000, 'Ada wants it', 'ops');
  for (const { token } of [owned, lone])
    await ask(engine, { kind: 'key', ...parseToken(token, 'staging', false)! }, Date.now());
  t.match(await everything(server), /Ada/);
  await registry.customers.close(customer.id, 'ops');
  await eraseCustomer({ registry, engine }, customer.id, 'privacy');
  await registry.revoke(lone.record.id);
  await eraseKey({ registry, engine }, lone.record.id, 'privacy');
  const left = await everything(server);
  t.notMatch(left, /Ada |ADA-1/);
  for (const id of [customer.id, owned.record.id.slice(8), lone.record.id]) t.match(left, id, 'ids stay');
  t.match(left, 'free|listPets|requests', 'what was counted stays');
});
