import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { packageRoot } from '../../src/shared/package-root.js';
import { startGateway, type Gateway, type GatewayOptions } from './gateway.js';
import { NO_BAN } from './plans.js';
import { temporaryFolder, type Teardown } from './program.js';
import { handshake, openTunnel, type TunnelClient } from './tunnel.js';

/** What the contract of these tests has besides: two operations, of which one may become a WebSocket. */
const WATCH = `paths:
  /pets/watch:
    get:
      operationId: watchPets
      summary: Watch the catalogue
      x-petgate: { upstream: pets, cost: 1, scope: 'pets:read', stability: null, websocket: true }
      responses: { '101': { description: A WebSocket. } }
`;

const AMPLE = { minute: 1_000_000, day: 1_000_000 };
const ban = { after: 3 };
/**
 * Plans of these tests: one that never refuses, one of ten, one of one, one on which the tunnel costs nothing, and
 * addresses.
 */
export const TUNNEL_PLANS = {
  free: { limits: AMPLE, ban: NO_BAN },
  ten: { limits: { minute: 10, day: 1000 }, ban: NO_BAN },
  tiny: { limits: { minute: 1, day: 1000 }, ban },
  gratis: { limits: AMPLE, ban: NO_BAN, operations: { watchPets: { cost: 0 } } },
  anonymous: { limits: AMPLE, ban: NO_BAN },
};

/** A gateway whose contract has `GET /v1/pets/watch`, a WebSocket. */
export interface TunnelFront {
  readonly gateway: Gateway;
  readonly port: number;
  /** `Authorization: Bearer <valid key>` */
  readonly key: string;
  readonly keyId: string;
  open(...fields: readonly string[]): Promise<TunnelClient>;
}

export interface TunnelFrontOptions extends GatewayOptions {
  readonly addresses: readonly string[];
  /** Settings of the upstream, such as `deadline`. */
  readonly pets?: Readonly<Record<string, unknown>>;
}

export async function startTunnelFront(
  t: Teardown,
  { addresses, pets = {}, config = {}, ...options }: TunnelFrontOptions,
): Promise<TunnelFront> {
  const gateway = await startGateway(t, {
    plans: TUNNEL_PLANS,
    ...options,
    config: { contract: writeContract(t), ...config, upstreams: { pets: { addresses, ...pets } } },
  });
  const made = await gateway.createKey({ plan: 'free' });
  const key = `Authorization: Bearer ${made.key}`;
  return {
    gateway,
    port: gateway.port,
    key,
    keyId: made.id,
    open: (...fields) => openTunnel(t, gateway.target, handshake('/v1/pets/watch', ...fields)),
  };
}

/** A contract of the shipped one and `GET /v1/pets/watch`; gives its path. */
export function writeContract(t: Teardown): string {
  const path = join(temporaryFolder(t), 'openapi.yaml');
  writeFileSync(path, readFileSync(join(packageRoot, 'config/openapi.yaml'), 'utf8').replace(/^paths:\n/m, WATCH));
  return path;
}
