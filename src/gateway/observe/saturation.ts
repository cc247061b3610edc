import { Counter, Gauge } from 'prom-client';
import type { Registry } from 'prom-client';
import type { EdgeLimits } from '../config/settings.js';
import type { Listener } from '../edge/listener.js';
import { isDown } from '../upstream/address.js';
import type { Address } from '../upstream/address.js';
import type { Upstreams } from '../upstream/pools.js';

/** How full the gateway and its upstreams are, read at each scrape: the request path pays nothing for it. */
export function watchSaturation(registry: Registry, listener: Listener, upstreams: () => Upstreams, limits: () => EdgeLimits): void {
  const gauge = (name: string, help: string, read: () => number | Promise<number>): void => {
    new Gauge({
      name, help, registers: [registry],
      async collect() {
        this.set(await read());
      },
    });
  };
  const { server } = listener;
  gauge('petgate_exchanges_in_flight', 'Exchanges that are worked on.', () => listener.inFlight() - listener.waiting());
  gauge('petgate_exchanges_limit', 'Exchanges at which further ones are refused as overloaded.', () => limits().exchanges);
  gauge('petgate_exchanges_waiting', 'Exchanges that wait for their client: for the rest of its body, or until it takes the answer.', () => listener.waiting());
  gauge('petgate_exchanges_waiting_limit', 'Waiting exchanges at which further ones are refused as overloaded, or cut.', () => limits().waiting);
  gauge('petgate_tunnels', 'WebSocket tunnels, handshakes under way included.', () => listener.tunnels());
  gauge('petgate_tunnels_limit', 'WebSocket tunnels at which further ones are refused as overloaded.', () => limits().tunnels);
  gauge('petgate_connections', 'Client connections open.', () => new Promise((resolve) => server.getConnections((error, count) => resolve(error === null ? count : 0))));
  gauge('petgate_connections_limit', 'Client connections at which further ones are dropped.', () => limits().connections);
  const dropped = new Counter({ name: 'petgate_connections_dropped_total', help: 'Client connections dropped because the limit was reached.', registers: [registry] });
  server.on('drop', () => dropped.inc());
  watchUpstreams(registry, upstreams);
}

function watchUpstreams(registry: Registry, upstreams: () => Upstreams): void {
  const gauge = (name: string, help: string, read: (address: Address) => number, aggregator: 'sum' | 'average' = 'sum'): void => {
    new Gauge({
      name, help, labelNames: ['upstream'], registers: [registry], aggregator,
      collect() {
        // A reload may have taken one away.
        this.reset();
        for (const [upstream, { addresses }] of upstreams()) {
          const total = addresses.reduce((sum, address) => sum + read(address), 0);
          this.set({ upstream }, aggregator === 'average' ? total / addresses.length : total);
        }
      },
    });
  };
  gauge('petgate_upstream_up_ratio', 'Share of the addresses that the last attempt could reach, that are not passed over because requests to them fail, and that want requests where they are asked; the mean over workers.', (address) => (address.reached && !isDown(address) ? 1 : 0), 'average');
  gauge('petgate_upstream_open_ratio', 'Share of the addresses that are passed over because requests to them fail; the mean over workers.', ({ breaker }) => (breaker.isOpen ? 1 : 0), 'average');
  gauge('petgate_upstream_in_flight', 'Requests handed to an upstream and not ended, those that wait for a connection included.', ({ underWay }) => underWay.size);
  gauge('petgate_upstream_queued', 'Requests that wait for a connection to an upstream.', ({ pool, waiting }) => pool.stats.queued + waiting());
  gauge('petgate_upstream_connections', 'Connections open to an upstream.', ({ pool }) => pool.stats.connected);
}
