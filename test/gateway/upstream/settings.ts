import type { UpstreamSettings } from '../../../src/gateway/config/schema/upstream.js';
import type { UpstreamEvents } from '../../../src/gateway/upstream/pools.js';

/** The settings of an upstream, with what the file's defaults are where a test says nothing. */
export function upstreamSettings(said: Partial<UpstreamSettings> = {}): UpstreamSettings {
  return {
    addresses: [],
    connections: 256,
    response_head: 16_384,
    response_fields: 256,
    connect: 1000,
    keep_alive: 4000,
    deadline: 15_000,
    idle: 60_000,
    lifetime: 3_600_000,
    resolve: 10_000,
    tls: { ca: null, cert: null, key: null },
    host: 'upstream',
    authorization: 'none',
    forwarded: false,
    errors: 'replace',
    preflights: false,
    body_size: 1_048_576,
    breaker: { failures: 5, open: 1000, cap: 10_000 },
    ...said,
  };
}

export const NO_EVENTS: UpstreamEvents = {
  breakerChanged: () => undefined,
  tlsFailed: () => undefined,
  unresolved: () => undefined,
  tokenRefused: () => undefined,
};
