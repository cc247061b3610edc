import { constants } from 'node:crypto';
import { isIP, type ConnectOpts } from 'node:net';
import { connect, createSecureContext, type ConnectionOptions, type SecureContext, type TLSSocket } from 'node:tls';
import type { UpstreamSettings } from '../../config/schema/upstream.js';

/** For this long, connections may resume an earlier one, and the server's certificate is not checked again. */
const SESSION_MS = 600_000;

/**
 * Returns what all connections to an upstream share: TLS 1.2 or newer, no renegotiation. Without PEM texts: Node's
 * certificate authorities, and no client certificate.
 */
export function secureContextOf({ ca, cert, key }: UpstreamSettings['tls']): SecureContext {
  return createSecureContext({
    ...(ca === null ? {} : { ca }),
    ...(cert === null || key === null ? {} : { cert, key }),
    minVersion: 'TLSv1.2',
    secureOptions: constants.SSL_OP_NO_RENEGOTIATION,
  });
}

/** Opens the TLS connections to one address. Later ones resume an earlier one, which costs less. */
export class TlsClient {
  readonly #context: SecureContext;
  readonly #name: string;
  readonly #onFailure: (code: string) => void;
  #session: Buffer | null = null;
  #checkedMs = -Infinity;

  /**
   * @param name the host name, or address, that the server's certificate must be for
   * @param onFailure called for each connection that TLS prevented or ended, with a code of Node or OpenSSL
   */
  constructor(context: SecureContext, name: string, onFailure: (code: string) => void) {
    this.#context = context;
    this.#name = name;
    this.#onFailure = onFailure;
  }

  /** Returns a connecting socket. It emits `secureConnect` once the certificate is found valid, or it closes. */
  connect(options: ConnectionOptions & ConnectOpts): TLSSocket {
    const session = performance.now() - this.#checkedMs < SESSION_MS ? this.#session : null;
    const socket = connect({
      ...options,
      secureContext: this.#context,
      // SNI must not contain an IP address (RFC 6066 §3); Node then checks the certificate against the host.
      servername: isIP(this.#name) === 0 ? this.#name : '',
      ALPNProtocols: ['http/1.1'],
      ...(session === null ? {} : { session }),
    });
    this.#watch(socket);
    return socket;
  }

  #watch(socket: TLSSocket): void {
    let reached = false;
    socket.once('connect', () => (reached = true));
    socket.on('error', ({ code = 'unknown' }: NodeJS.ErrnoException) => {
      // With TLS 1.3, a server reports a missing client certificate only after the handshake.
      if ((reached && !socket.authorized) || code.startsWith('ERR_SSL_')) this.#onFailure(code);
      socket.destroy();
    });
    let early: Buffer | null = null;
    // With TLS 1.2, this event comes before the certificate is checked.
    socket.on('session', (next: Buffer) => {
      if (socket.authorized) this.#session = next;
      else early = next;
    });
    socket.once('secureConnect', () => {
      socket.setNoDelay(true);
      if (!socket.isSessionReused()) this.#checkedMs = performance.now();
      this.#session = early ?? this.#session;
    });
  }
}
