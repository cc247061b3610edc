import { constants } from 'node:crypto';
import { isIP, type ConnectOpts } from 'node:net';
import { connect, createSecureContext, type ConnectionOptions, type SecureContext, type TLSSocket } from 'node:tls';

/** For so long a session is taken up again, and the server's certificate not checked anew. */
const SESSION_MS = 600_000;

/** PEM texts; null: the certificate authorities of the system, no certificate of our own. */
export interface TlsFiles {
  readonly ca: string | null;
  readonly cert: string | null;
  readonly key: string | null;
}

/** What all connections to an upstream share. TLS 1.2 at least, and nothing is negotiated twice. */
export function secureContextOf({ ca, cert, key }: TlsFiles): SecureContext {
  return createSecureContext({
    ...(ca === null ? {} : { ca }),
    ...(cert === null || key === null ? {} : { cert, key }),
    minVersion: 'TLSv1.2',
    secureOptions: constants.SSL_OP_NO_RENEGOTIATION,
  });
}

/** Encrypts the connections to one address. Later ones take up the session of an earlier one: that costs less. */
export class TlsClient {
  readonly #context: SecureContext;
  readonly #name: string;
  readonly #onFailure: (code: string) => void;
  #session: Buffer | null = null;
  #checkedMs = -Infinity;

  /**
   * @param name the host name, or address, that the server's certificate must be for
   * @param onFailure called for each connection that TLS kept from being made, or ended; with a code of Node or OpenSSL
   */
  constructor(context: SecureContext, name: string, onFailure: (code: string) => void) {
    this.#context = context;
    this.#name = name;
    this.#onFailure = onFailure;
  }

  /** A socket that is being connected. It says `secureConnect` once the certificate was found good, or it closes. */
  connect(options: ConnectionOptions & ConnectOpts): TLSSocket {
    const session = performance.now() - this.#checkedMs < SESSION_MS ? this.#session : null;
    const socket = connect({
      ...options,
      secureContext: this.#context,
      // An address has no place in SNI (RFC 6066 §3); Node then checks the certificate against the host.
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
      // With TLS 1.3 a server says only behind the handshake that it wants a certificate of ours.
      if ((reached && !socket.authorized) || code.startsWith('ERR_SSL_')) this.#onFailure(code);
      socket.destroy();
    });
    let early: Buffer | null = null;
    // With TLS 1.2 it comes before the certificate was looked at.
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
