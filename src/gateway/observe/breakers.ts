import { Counter } from 'prom-client';
import type { Registry } from 'prom-client';
import type { OnBreakerChange } from '../upstream/pools.js';
import type { Log } from '../../shared/log.js';

/** Counts the breakers of upstreams that open, and logs with their address those that open and close. */
export function watchBreakers(registry: Registry, upstreams: Iterable<string>, log: Log): OnBreakerChange {
  const opened = new Counter({ name: 'petgate_upstream_breaker_opened_total', help: 'Times that an address was passed over because its requests failed.', labelNames: ['upstream'], registers: [registry] });
  for (const upstream of upstreams) opened.inc({ upstream }, 0);
  return (upstream, { url: address }, change) => {
    if (change.open) {
      opened.inc({ upstream });
      log.warn({ upstream, address, failure: change.failure }, 'requests to this address fail: it is passed over, but for a trial from time to time');
    } else log.info({ upstream, address, openMs: Math.round(change.openedForMs) }, 'this address answers again');
  };
}
