import { Counter } from 'prom-client';
import type { Registry } from 'prom-client';
import type { OnBreakerTurn } from '../upstream/pools.js';
import type { Log } from '../../shared/log.js';

/** Counts the breakers of upstreams that open, and logs with their address those that open and close. */
export function watchBreakers(registry: Registry, upstreams: Iterable<string>, log: Log): OnBreakerTurn {
  const opened = new Counter({ name: 'petgate_upstream_breaker_opened_total', help: 'Times that an address was passed over because its requests failed.', labelNames: ['upstream'], registers: [registry] });
  for (const upstream of upstreams) opened.inc({ upstream }, 0);
  return (upstream, { url: address }, turn) => {
    if (turn.open) {
      opened.inc({ upstream });
      log.warn({ upstream, address, failure: turn.failure }, 'requests to this address fail: it is passed over, but for a trial from time to time');
    } else log.info({ upstream, address, openMs: Math.round(turn.openedForMs) }, 'this address answers again');
  };
}
