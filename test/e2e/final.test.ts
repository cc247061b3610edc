import { join } from 'node:path';
import t from 'tap';
import type { Test } from 'tap';
import { openStores } from '../../src/gateway/admission/engines/embedded/stores.js';
import { Turn } from '../../src/gateway/admission/engines/embedded/turn.js';
import { GATEWAY_DAYS } from '../../src/gateway/admission/engines/redis/names.js';
import { Metadata } from '../../src/gateway/admission/failover/metadata.js';
import type { Gateway } from '../servers/gateway.js';
import { startGateway } from '../servers/gateway.js';
import { startRedis } from '../servers/redis.js';
import type { RedisServer } from '../servers/redis.js';
import { startProxy } from '../servers/stalling-proxy.js';
import type { StallingProxy } from '../servers/stalling-proxy.js';
import { until } from '../servers/until.js';
import { startUpstream } from '../servers/upstream.js';
import { openClient } from './client.js';
import { learnt } from './copies.js';
import { away } from './fleet.js';
import { day } from './ledger.js';

const DAY_MS = 86_400_000;
const HOUR_MS = 3_600_000;

interface Stage {
  readonly redis: RedisServer;
  readonly proxy: StallingProxy;
  readonly near: Gateway;
  /** Its way to Redis leads through the proxy, and is cut. */
  readonly cut: Gateway;
  /** Names the one that is cut among gateways. */
  readonly cutId: string;
  readonly keyId: string;
  /** Over by the clock; `cut` still has 3 requests of it. */
  readonly overMs: number;
}

/** Two gateways, of which one was cut off before the end of a day that is over, with counts of it. */
async function startStage(t: Test, finalAfter = '7d'): Promise<Stage> {
  const redis = await startRedis();
  t.teardown(() => redis.stop());
  const proxy = await startProxy(redis.port);
  t.teardown(() => proxy.stop());
  const upstream = await startUpstream(t);
  const config = { store: { deadline: '1s', final_after: finalAfter }, upstreams: { pets: { addresses: [upstream.url] } } };
  const start = (url: string): Promise<Gateway> => startGateway(t, { config, environment: { REDIS_URL: url } });
  const near = await start(redis.url);
  const told = async (): Promise<readonly string[]> => (await redis.command('HKEYS', GATEWAY_DAYS)) as string[];
  await until('the first told its days', async () => (await told()).length === 1);
  const [nearId] = await told();
  const cut = await start(`redis://127.0.0.1:${proxy.port}`);
  await until('both told their days', async () => (await told()).length === 2);
  const cutId = (await told()).find((id) => id !== nearId)!;
  const { id: keyId, key } = await near.createKey({ plan: 'pro' });
  await openClient(t, cut.url, 1).send(key);
  await learnt(cut, [keyId]);
  proxy.set('refuse');
  await away(cut);
  const overMs = Math.floor((Date.now() - HOUR_MS) / DAY_MS - 1) * DAY_MS + DAY_MS / 2;
  await countLocally(cut, keyId, overMs, 3);
  return { redis, proxy, near, cut, cutId, keyId, overMs };
}

/** What the gateway would have counted on that day while Redis was away. */
async function countLocally({ dataFolder }: Gateway, keyId: string, atMs: number, requests: number): Promise<void> {
  const stores = openStores({ folder: join(dataFolder, 'failover'), mapBytes: 2 ** 26 });
  await new Metadata(stores).write('day', day(atMs - DAY_MS));
  stores.recent.transactionSync(() => {
    const turn = new Turn(stores);
    for (let n = 0; n < requests; n += 1) turn.count(turn.key(keyId), keyId, 'pro', 'listPets', atMs, 'requests');
    turn.finish();
  });
  await Promise.all([stores.recent.close(), stores.durable.close()]);
}

/** What the gateway that is cut would have told last, so long ago. */
async function lastTold({ redis, cutId, overMs }: Stage, agoMs: number): Promise<void> {
  await redis.command('HSET', GATEWAY_DAYS, cutId, `${Math.floor(overMs / DAY_MS)}|${Date.now() - agoMs}|told|cut.example`);
}

interface Report {
  readonly final: boolean;
  readonly rows: readonly { readonly requests: number; readonly final: boolean; readonly without?: string }[];
  readonly waitingFor: readonly { readonly gateway: string; readonly host: string; readonly from: string }[];
  readonly without: readonly { readonly gateway: string }[];
}

async function reportOf({ near, overMs }: Stage): Promise<Report> {
  return (await near.admin('GET', `/admin/v1/usage?from=${day(overMs)}&to=${day(overMs)}&by=day`)).body as Report;
}

t.test('a day is not final while a gateway that is cut off may have counts of it, and is when they came', async (t) => {
  const stage = await startStage(t);
  await lastTold(stage, 2 * HOUR_MS);
  const open = await reportOf(stage);
  t.equal(open.final, false);
  t.match(open.waitingFor, [{ gateway: stage.cutId, host: 'cut.example', from: day(stage.overMs) }]);
  stage.proxy.set('pass');
  await until('the day is final', async () => (await reportOf(stage)).final);
  const closed = await reportOf(stage);
  t.match(closed.rows, [{ requests: 3, final: true }]);
  t.equal(closed.rows[0]!.without, undefined);
  t.same([closed.waitingFor, closed.without], [[], []]);
  await stage.cut.program.stop();
  t.notOk(await stage.redis.command('HEXISTS', GATEWAY_DAYS, stage.cutId), 'it takes leave when it has brought all home');
});

t.test('a gateway that is gone for good is named; the bound or an operator ends the wait, with a mark', async (t) => {
  const stage = await startStage(t, '3h');
  await stage.cut.program.stop('SIGKILL');
  await lastTold(stage, 2 * HOUR_MS);
  t.equal((await reportOf(stage)).final, false);
  await lastTold(stage, 4 * HOUR_MS);
  t.match(await reportOf(stage), { final: true, waitingFor: [], without: [{ gateway: stage.cutId }] }, 'after the bound');
  await lastTold(stage, 2 * HOUR_MS);
  t.equal((await stage.near.admin('DELETE', '/admin/v1/usage/gateways/nobody')).status, 404);
  t.equal((await stage.near.admin('DELETE', `/admin/v1/usage/gateways/${stage.cutId}`)).status, 204);
  t.match(await reportOf(stage), { final: true, waitingFor: [], without: [{ gateway: stage.cutId }] }, 'given up');

  stage.proxy.set('pass');
  const { dataFolder } = stage.cut;
  const again = await startGateway(t, { dataFolder, environment: { REDIS_URL: stage.redis.url } });
  await until('what came late is there, without a mark', async () => (await reportOf(stage)).without.length === 0);
  t.match(await reportOf(stage), { final: true, rows: [{ requests: 3, final: true }] });
  await again.program.stop();
});
