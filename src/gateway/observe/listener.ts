import type { Server } from 'node:http';
import { Counter, type Registry } from 'prom-client';
import type { Certificate } from '../config/certificate.js';
import type { EdgeLimits } from '../config/settings.js';
import type { Listener } from '../edge/listener.js';
import { PROXY_REFUSALS, type ProxyRefusal } from '../edge/proxy-protocol/listener.js';
import { HANDSHAKE_FAILURES, handshakeFailureOf } from '../edge/tls.js';
import { gaugeOf } from '../../shared/metrics/gauge.js';

export function watchListener(registry: Registry, listener: Listener, limits: () => EdgeLimits): void {
  const { server } = listener;
  const gauge = (name: string, help: string, read: () => number | Promise<number>): void =>
    gaugeOf(registry, name, help, read);
  gauge('petgate_exchanges_in_flight', 'Exchanges that are worked on.', () => listener.inFlight() - listener.waiting());
  gauge(
    'petgate_exchanges_limit',
    'Exchanges at which further ones are refused as overloaded.',
    () => limits().exchanges,
  );
  gauge(
    'petgate_exchanges_waiting',
    'Exchanges that wait for their client: for the rest of its body, or until it reads the response.',
    () => listener.waiting(),
  );
  gauge(
    'petgate_exchanges_waiting_limit',
    'Waiting exchanges at which further ones are refused as overloaded, or cut.',
    () => limits().waiting,
  );
  gauge('petgate_tunnels', 'WebSocket tunnels, handshakes under way included.', () => listener.tunnels());
  gauge(
    'petgate_tunnels_limit',
    'WebSocket tunnels at which further ones are refused as overloaded.',
    () => limits().tunnels,
  );
  gauge(
    'petgate_connections',
    'Client connections open.',
    () => new Promise((resolve) => server.getConnections((error, count) => resolve(error === null ? count : 0))),
  );
  gauge(
    'petgate_connections_limit',
    'Client connections at which further ones are dropped.',
    () => limits().connections,
  );
  const dropped = new Counter({
    name: 'petgate_connections_dropped_total',
    help: 'Client connections dropped because the limit was reached.',
    registers: [registry],
  });
  server.on('drop', () => dropped.inc());
}

/** Until when the certificate holds, and which handshakes fail. Only where TLS is spoken. */
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
    'Connections that never became TLS, by reason. Only with TLS.',
    HANDSHAKE_FAILURES,
  );
  server.on('tlsClientError', (error: NodeJS.ErrnoException) => count(handshakeFailureOf(error)));
}

/** Counts the connections that the PROXY protocol kept out. Only where it is spoken. */
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
  const counter = new Counter({ name, help, labelNames: ['reason'], registers: [registry] });
  for (const reason of reasons) counter.inc({ reason }, 0);
  return (reason) => counter.inc({ reason });
}
