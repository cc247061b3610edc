import t from 'tap';
import type { Test } from 'tap';
import { createKey, away, back, figure, starterOn } from '../fleet.js';
import { learnt } from '../copies.js';
import { kindOf } from '../load.js';
import { openClient } from '../../e2e/client.js';
import type { Gateway } from '../../servers/gateway.js';
import { redisFor, type RedisServer } from '../../servers/redis.js';
import { until } from '../../servers/until.js';

type Made = Awaited<ReturnType<typeof createKey>>;

/** As a Redis without an append-only file comes back: with the last snapshot. */
async function restore(redis: RedisServer, ...gateways: readonly Gateway[]): Promise<void> {
  await redis.kill();
  await away(...gateways);
  await redis.restart();
}

async function answers(t: Test, { url }: Gateway, keys: Readonly<Record<string, string>>): Promise<object> {
  const client = openClient(t, url, 1);
  const found: Record<string, string> = {};
  for (const [name, key] of Object.entries(keys)) found[name] = kindOf(await client.send(key));
  return found;
}

/** Waits until a check of the store succeeded: a busy gateway serves before it has reached Redis. */
const reached = (gateway: Gateway): Promise<void> =>
  until('Redis decides', async () => {
    const { parts } = (await gateway.admin('GET', '/readyz')).body as {
      parts: { store: { ok: boolean; degraded?: true } };
    };
    return parts.store.ok && parts.store.degraded !== true;
  });

t.test('a Redis restored to an older state is refused, and accepting it undoes no revocation', async (t) => {
  const redis = await redisFor(t);
  const start = await starterOn(t, redis.url);
  const [one, other] = [await start(), await start()];
  const made: Made[] = [];
  for (let n = 0; n < 5; n += 1) made.push(await createKey(one, 'roomy'));
  const [revoked, banned, rotated, kept, disabled] = made as [Made, Made, Made, Made, Made];
  const keys = {
    revoked: revoked.key,
    banned: banned.key,
    rotated: rotated.key,
    kept: kept.key,
    disabled: disabled.key,
  };
  await answers(t, one, keys);
  await learnt(
    one,
    made.map(({ id }) => id),
  );
  await redis.command('SAVE');
  await one.admin('DELETE', `/admin/v1/keys/${revoked.id}`);
  await one.admin('PUT', `/admin/v1/bans/${banned.id}`, { for: '1h', reason: 'loops' });
  await one.admin('PATCH', `/admin/v1/keys/${disabled.id}`, { status: 'disabled' });
  const { body } = await one.admin('POST', `/admin/v1/keys/${rotated.id}/rotate`, { overlap: '0s' });
  const all = { ...keys, fresh: (body as { key: string }).key };
  const refused = { revoked: 'invalid_api_key', disabled: 'invalid_api_key', banned: 'key_banned' };
  t.match(await answers(t, one, all), { ...refused, rotated: 'invalid_api_key', kept: '200', fresh: '200' });

  await restore(redis, one);
  for (const gateway of [one, other])
    await until('it is told', async () => (await figure(gateway, 'petgate_store_replaced')) === 1);
  t.match((await one.admin('GET', '/readyz')).body, {
    parts: { store: { degraded: true, detail: /restored to an older state.*petgate store accept/ } },
  });
  t.match(await one.admin('PATCH', `/admin/v1/keys/${kept.id}`, { name: 'new' }), { status: 503 });
  t.match(await answers(t, one, all), { ...refused, rotated: 'store_unavailable', kept: '200', fresh: '200' });

  const fresh = await start();
  await until('a new gateway is told', async () => (await figure(fresh, 'petgate_store_replaced')) === 1);
  t.match(await other.admin('POST', '/admin/v1/store/accept'), { status: 200, body: { accepted: true } });
  for (const gateway of [one, other, fresh]) {
    await back(gateway);
    t.match(await answers(t, gateway, all), { ...refused, rotated: 'invalid_api_key', kept: '200', fresh: '200' });
    t.equal(await figure(gateway, 'petgate_store_replaced'), 0);
  }
  t.match(await one.admin('GET', `/admin/v1/keys/${revoked.id}/history`), {
    body: { history: [{ action: 'created' }, { action: 'revoked', actor: 'petgate' }] },
  });
});

t.test('a gateway that was not there when the store was accepted brings its revocations along', async (t) => {
  const redis = await redisFor(t);
  const start = await starterOn(t, redis.url);
  const [one, other] = [await start(), await start()];
  const { id, key } = await createKey(one, 'roomy');
  await answers(t, one, { key });
  await redis.command('SAVE');
  await other.program.stop();
  await one.admin('DELETE', `/admin/v1/keys/${id}`);
  await one.program.stop();
  await redis.kill();
  await redis.restart();
  const late = await start();
  await reached(late);
  t.match(await answers(t, late, { key }), { key: '200' }, 'who knows nothing takes what it finds');
  const again = await start({ dataFolder: one.dataFolder });
  await until('it is told', async () => (await figure(again, 'petgate_store_replaced')) === 1);
  await until('and so are all', async () => (await figure(late, 'petgate_store_replaced')) === 1);
  t.match(await late.admin('POST', '/admin/v1/store/accept'), { status: 200, body: { accepted: true } });
  for (const gateway of [late, again]) {
    await back(gateway);
    t.match(await answers(t, gateway, { key }), { key: 'invalid_api_key' });
  }
});

t.test('a gateway without copies refuses a Redis that lost a revocation, too', async (t) => {
  const redis = await redisFor(t);
  const start = await starterOn(t, redis.url);
  const gateway = await start({ config: { store: { on_failure: 'refuse' } } });
  const { id, key } = await createKey(gateway, 'roomy');
  await redis.command('SAVE');
  await gateway.admin('DELETE', `/admin/v1/keys/${id}`);
  await redis.kill();
  await redis.restart();
  await until('it is told', async () => (await figure(gateway, 'petgate_store_replaced')) === 1);
  t.match(await answers(t, gateway, { key }), { key: 'store_unavailable' });
});
