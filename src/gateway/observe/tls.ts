import type { Server } from 'node:http';
import { Counter, Gauge } from 'prom-client';
import type { Registry } from 'prom-client';
import type { Certificate } from '../config/certificate.js';
import { HANDSHAKE_FAILURES, handshakeFailureOf } from '../edge/tls.js';

/** Until when the certificate holds, and which handshakes fail. Only where TLS is spoken. */
export function watchTls(registry: Registry, server: Server, certificate: () => Certificate): void {
  const registers = [registry];
  new Gauge({
    name: 'petgate_tls_certificate_not_after_seconds', help: 'When the certificate that new connections get ends, unix time; the earliest of all processes. Only with TLS.', aggregator: 'min', registers,
    collect() {
      this.set(certificate().notAfterMs / 1000);
    },
  });
  const failures = new Counter({ name: 'petgate_tls_handshake_failures_total', help: 'Connections that never became TLS, by reason. Only with TLS.', labelNames: ['reason'], registers });
  for (const reason of HANDSHAKE_FAILURES) failures.inc({ reason }, 0);
  server.on('tlsClientError', (error: NodeJS.ErrnoException) => failures.inc({ reason: handshakeFailureOf(error) }));
}
