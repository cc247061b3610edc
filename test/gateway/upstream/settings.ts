import type { UpstreamSettings } from '../../../src/gateway/config/settings.js';
import type { UpstreamEvents } from '../../../src/gateway/upstream/pools.js';

/** The settings of an upstream, with what the file's defaults are where a test says nothing. */
export function upstreamSettings(said: Partial<UpstreamSettings> = {}): UpstreamSettings {
  return {
    addresses: [],
    connections: 256,
    responseLimits: { headBytes: 16_384, fields: 256 },
    connectMs: 1000,
    keepAliveMs: 4000,
    deadlineMs: 15_000,
    idleMs: 60_000,
    lifetimeMs: 3_600_000,
    resolveMs: 10_000,
    tls: { ca: null, cert: null, key: null },
    servername: null,
    stripPrefix: '',
    host: 'upstream',
    authorization: 'none',
    forwarded: false,
    errors: 'replace',
    preflights: false,
    bodyBytes: 1_048_576,
    health: null,
    breaker: { failures: 5, openMs: 1000, capMs: 10_000 },
    ...said,
  };
}

export const NO_EVENTS: UpstreamEvents = {
  breakerChanged: () => undefined,
  tlsFailed: () => undefined,
  unresolved: () => undefined,
  tokenRefused: () => undefined,
};
