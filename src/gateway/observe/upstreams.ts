import { Counter, type Registry } from 'prom-client';
import { isDown, type Address } from '../upstream/address.js';
import type { OnBreakerChange, Upstreams } from '../upstream/pools.js';
import type { Log } from '../../shared/log.js';
import { gaugesOf } from '../../shared/metrics/gauge.js';

/** Counts the breakers of upstreams that open, and logs with their address those that open and close. */
export function watchBreakers(registry: Registry, upstreams: Iterable<string>, log: Log): OnBreakerChange {
  const opened = new Counter({
    name: 'petgate_upstream_breaker_opened_total',
    help: 'Times that an address was passed over because its requests failed.',
    labelNames: ['upstream'],
    registers: [registry],
  });
  for (const upstream of upstreams) opened.inc({ upstream }, 0);
  return (upstream, { url: address }, change) => {
    if (change.open) {
      opened.inc({ upstream });
      log.warn(
        { upstream, address, failure: change.failure },
        'requests to this address fail: it is passed over, but for a trial from time to time',
      );
    } else log.info({ upstream, address, openMs: Math.round(change.openedForMs) }, 'this address answers again');
  };
}

/** How full upstreams are, and which of their addresses are up. */
export function watchUpstreams(registry: Registry, upstreams: () => Upstreams): void {
  const gauge = (
    name: string,
    help: string,
    read: (addresses: readonly Address[]) => number,
    aggregator: 'sum' | 'average',
  ): void =>
    gaugesOf(
      registry,
      name,
      help,
      'upstream',
      () => [...upstreams()].map(([upstream, { addresses }]) => [upstream, read(addresses)]),
      aggregator,
    );
  const share = (name: string, help: string, holds: (address: Address) => boolean): void =>
    gauge(name, help, (addresses) => addresses.filter(holds).length / addresses.length, 'average');
  const total = (name: string, help: string, of: (address: Address) => number): void =>
    gauge(name, help, (addresses) => addresses.reduce((sum, address) => sum + of(address), 0), 'sum');
  share(
    'petgate_upstream_up_ratio',
    'Share of the addresses that the last attempt could reach, that are not passed over because requests to ' +
      'them fail, and that want requests where they are asked; the mean over workers.',
    (address) => address.reached && !isDown(address),
  );
  share(
    'petgate_upstream_open_ratio',
    'Share of the addresses that are passed over because requests to them fail; the mean over workers.',
    ({ breaker }) => breaker.isOpen,
  );
  total(
    'petgate_upstream_in_flight',
    'Requests handed to an upstream and not ended, those that wait for a connection included.',
    ({ underWay }) => underWay.size,
  );
  total(
    'petgate_upstream_queued',
    'Requests that wait for a connection to an upstream.',
    ({ pool, waiting }) => pool.stats.queued + waiting(),
  );
  total('petgate_upstream_connections', 'Connections open to an upstream.', ({ pool }) => pool.stats.connected);
}
