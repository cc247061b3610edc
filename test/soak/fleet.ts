import { join } from 'node:path';
import { makeToken } from '../../src/gateway/accounts/token.js';
import { seedDays, seedEmbedded, seedRedis } from '../bench/seed-usage.js';
import { startUpstream } from '../bench/subjects/node-peers.js';
import { startPostgres } from '../servers/postgres.js';
import { startRedis } from '../servers/redis.js';
import { SoakGateway } from './gateway.js';
import type { SoakOptions } from './options.js';
import { startSlowReceiver } from './receiver.js';

const SEEDED_KEYS = 1_000;
/** More than stay in Redis where there is an archive. */
const SEEDED_DAYS = 45;
const ROOMY_KEYS = 90;
const TIGHT_KEYS = 2;
const CUSTOMERS = 8;

export interface SoakFleet {
  readonly gateway: SoakGateway;
  /** Of the keys that the load uses in turn: a hundred. */
  readonly tokens: readonly string[];
  readonly rotatedId: string;
  readonly bannedId: string;
  readonly firstDay: string;
  readonly stop: () => Promise<void>;
}

/**
 * A gateway with forty days of ledger behind it, its upstream, its receiver of events, and Redis with an archive where
 * asked.
 */
export async function startFleet(options: SoakOptions, folder: string): Promise<SoakFleet> {
  const upstream = await startUpstream();
  const services = options.store === 'redis' ? await startServices() : undefined;
  if (services !== undefined) await seedRedis(services.environment.REDIS_URL, SEEDED_KEYS, SEEDED_DAYS);
  else await seedEmbedded(join(folder, 'data', 'admission'), SEEDED_KEYS, SEEDED_DAYS);
  const receiver = await startSlowReceiver();
  const environment = services?.environment ?? {};
  const gateway = new SoakGateway(
    { folder, upstreamPort: upstream.port, receiverUrl: receiver.url, environment },
    options,
  );
  await gateway.serving();
  const keys = await registerKeys(gateway);
  return {
    gateway,
    ...keys,
    firstDay: seedDays(SEEDED_DAYS)[0]!,
    stop: async () => {
      gateway.child.kill();
      await gateway.log.ended;
      upstream.child.kill();
      receiver.stop();
      await services?.stop();
    },
  };
}

async function startServices(): Promise<{
  readonly environment: { readonly REDIS_URL: string; readonly LEDGER_URL: string };
  readonly stop: () => Promise<void>;
}> {
  const [redis, postgres] = await Promise.all([startRedis({ config: ['appendonly yes'] }), startPostgres()]);
  return {
    environment: { REDIS_URL: redis.url, LEDGER_URL: postgres.url },
    stop: async () => {
      await Promise.all([redis.stop(), postgres.stop()]);
    },
  };
}

async function registerKeys(gateway: SoakGateway): Promise<Pick<SoakFleet, 'tokens' | 'rotatedId' | 'bannedId'>> {
  const made = Array.from({ length: ROOMY_KEYS + TIGHT_KEYS }, () => makeToken('development'));
  const lines = made.map(({ id, secretHash: hash }, place) =>
    JSON.stringify({ id, hash, plan: place < TIGHT_KEYS ? 'tight' : 'roomy', name: `soak ${place}` }),
  );
  await gateway.admin('POST', '/admin/v1/keys/import', lines.join('\n'));
  const tokens = made.map(({ token }) => token);
  for (let n = 0; n < CUSTOMERS; n += 1) {
    const customer = await created(gateway, 'customers', { name: `Customer ${n}`, plan: 'roomy', reference: `C-${n}` });
    tokens.push((await created(gateway, 'keys', { customer: customer.id, name: `of customer ${n}` })).key);
  }
  const rotated = await created(gateway, 'keys', { plan: 'roomy', name: 'rotated' });
  return { tokens, rotatedId: rotated.id, bannedId: made[TIGHT_KEYS]!.id };
}

async function created(gateway: SoakGateway, kind: string, body: object): Promise<{ id: string; key: string }> {
  return JSON.parse(await gateway.admin('POST', `/admin/v1/${kind}`, body)) as { id: string; key: string };
}
