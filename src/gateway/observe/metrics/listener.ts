import type { Server } from 'node:http';
import type { Registry } from 'prom-client';
import type { Certificate } from '../../config/certificate.js';
import type { EdgeLimits } from '../../config/schema/limits.js';
import type { Listener } from '../../edge/server/listener.js';
import { PROXY_REFUSALS, type ProxyRefusal } from '../../edge/proxy-protocol/listener.js';
import { HANDSHAKE_FAILURES, handshakeFailureOf } from '../../edge/tls.js';
import { counterOf, gaugeOf } from '../../../shared/metrics/gauge.js';

export function watchListener(registry: Registry, listener: Listener, limits: () => EdgeLimits): void {
  const { server } = listener;
  const gauge = (name: string, help: string, read: () => number | Promise<number>): void =>
    gaugeOf(registry, name, help, read);
  gauge(
    'petgate_exchanges_in_flight',
    'Exchanges in progress, without those that wait for their client.',
    () => listener.inFlight() - listener.waiting(),
  );
  gauge(
    'petgate_exchanges_limit',
    'Limit of exchanges in progress; further ones are refused as overloaded.',
    () => limits().exchanges,
  );
  gauge(
    'petgate_exchanges_waiting',
    'Exchanges that wait for their client: for the rest of its body, or until it reads the response.',
    () => listener.waiting(),
  );
  gauge(
    'petgate_exchanges_waiting_limit',
    'Limit of waiting exchanges; further ones are refused as overloaded, or cut.',
    () => limits().waiting,
  );
  gauge('petgate_tunnels', 'WebSocket tunnels, including handshakes in progress.', () => listener.tunnels());
  gauge(
    'petgate_tunnels_limit',
    'Limit of WebSocket tunnels; further ones are refused as overloaded.',
    () => limits().tunnels,
  );
  gauge(
    'petgate_connections',
    'Open client connections.',
    () => new Promise((resolve) => server.getConnections((error, count) => resolve(error === null ? count : 0))),
  );
  gauge(
    'petgate_connections_limit',
    'Limit of client connections; further ones are dropped.',
    () => limits().connections,
  );
  const help = 'Client connections dropped because the limit was reached.';
  const dropped = counterOf(registry, 'petgate_connections_dropped_total', help);
  server.on('drop', () => dropped.inc());
}

/** Adds metrics of the certificate's expiry and of failed handshakes. Call only with TLS. */
export function watchTls(registry: Registry, server: Server, certificate: () => Certificate): void {
  gaugeOf(
    registry,
    'petgate_tls_certificate_not_after_seconds',
    'Unix time at which the certificate for new connections expires; the earliest of all processes. Only with TLS.',
    () => certificate().notAfterMs / 1000,
    'min',
  );
  const count = countReasons(
    registry,
    'petgate_tls_handshake_failures_total',
    'Failed TLS handshakes, by reason. Only with TLS.',
    HANDSHAKE_FAILURES,
  );
  server.on('tlsClientError', (error: NodeJS.ErrnoException) => count(handshakeFailureOf(error)));
}

/** Counts connections closed for lack of a valid PROXY header. Call only with `listen.proxy_protocol`. */
export function countUnproxied(registry: Registry): (why: ProxyRefusal) => void {
  return countReasons(
    registry,
    'petgate_proxy_protocol_refused_total',
    "Connections closed because they did not begin with a trusted proxy's PROXY header, by reason. Only with " +
      'listen.proxy_protocol.',
    PROXY_REFUSALS,
  );
}

function countReasons<Reason extends string>(
  registry: Registry,
  name: string,
  help: string,
  reasons: readonly Reason[],
): (reason: Reason) => void {
  const counter = counterOf(registry, name, help, 'reason');
  for (const reason of reasons) counter.inc({ reason }, 0);
  return (reason) => counter.inc({ reason });
}
