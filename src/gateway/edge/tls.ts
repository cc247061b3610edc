import { constants } from 'node:crypto';
import { createServer, type Server, type ServerOptions } from 'node:https';
import type { TLSSocket } from 'node:tls';
import type { Certificate } from '../config/certificate.js';

/** Why a handshake failed; a metric label. */
export const HANDSHAKE_FAILURES = [
  'left',
  'timeout',
  'plain_http',
  'no_common_version',
  'distrusted',
  'other',
] as const;
type HandshakeFailure = (typeof HANDSHAKE_FAILURES)[number];

/** Only forward secrecy and AEAD: for TLS 1.2, Mozilla's intermediate list without DHE. */
const CIPHERS = [
  'TLS_AES_128_GCM_SHA256',
  'TLS_AES_256_GCM_SHA384',
  'TLS_CHACHA20_POLY1305_SHA256',
  'ECDHE-ECDSA-AES128-GCM-SHA256',
  'ECDHE-RSA-AES128-GCM-SHA256',
  'ECDHE-ECDSA-AES256-GCM-SHA384',
  'ECDHE-RSA-AES256-GCM-SHA384',
  'ECDHE-ECDSA-CHACHA20-POLY1305',
  'ECDHE-RSA-CHACHA20-POLY1305',
].join(':');

/** For every handshake: TLS 1.2 or newer, strong ciphers, no renegotiation. */
export function handshakeRules(certificate: Certificate): ServerOptions {
  return {
    ...certificate.pem(),
    minVersion: 'TLSv1.2',
    ciphers: CIPHERS,
    secureOptions: constants.SSL_OP_NO_RENEGOTIATION,
  };
}

/**
 * Like node:http's server, over TLS. Resets failed handshakes: no response is possible before, and Node would report
 * plain HTTP as an unparsable request.
 * @param handshakeMs for a whole handshake, however alive it looks
 * @param onHttp2 takes the connections that choose HTTP/2; null: it is not offered
 */
export function createTlsServer(
  options: ServerOptions,
  certificate: Certificate,
  handshakeMs: number,
  onHttp2: ((socket: TLSSocket) => void) | null,
): Server {
  const server = createServer({
    ...options,
    ...handshakeRules(certificate),
    ALPNProtocols: onHttp2 === null ? ['http/1.1'] : ['h2', 'http/1.1'],
    handshakeTimeout: handshakeMs,
  });
  if (onHttp2 !== null) divert(server, onHttp2);
  server.removeAllListeners('tlsClientError');
  server.on('tlsClientError', (_error, socket) => socket.destroy());
  return server;
}

/** Node's own listener for HTTP/1.1 sees only connections that chose it, or chose nothing. */
function divert(server: Server, onHttp2: (socket: TLSSocket) => void): void {
  const serves = server.listeners('secureConnection');
  server.removeAllListeners('secureConnection');
  server.on('secureConnection', (socket: TLSSocket) => {
    if (socket.alpnProtocol === 'h2') onHttp2(socket);
    else for (const serve of serves) serve.call(server, socket);
  });
}

/** @param error of `tlsClientError` */
export function handshakeFailureOf({ code = '' }: NodeJS.ErrnoException): HandshakeFailure {
  if (code === 'ECONNRESET' || code === 'EPIPE') return 'left';
  if (code === 'ERR_TLS_HANDSHAKE_TIMEOUT') return 'timeout';
  if (code === 'ERR_SSL_HTTP_REQUEST') return 'plain_http';
  if (/_(?:UNSUPPORTED_PROTOCOL|VERSION_TOO_LOW|WRONG_VERSION_NUMBER)$/.test(code)) return 'no_common_version';
  if (/_NO_(?:SHARED_CIPHER$|APPLICATION_PROTOCOL$|SUITABLE_)/.test(code)) return 'no_common_version';
  if (/_ALERT_(?:UNKNOWN_CA|BAD_CERTIFICATE|CERTIFICATE_|UNSUPPORTED_CERTIFICATE|ACCESS_DENIED)/.test(code))
    return 'distrusted';
  return 'other';
}
