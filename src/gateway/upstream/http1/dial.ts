import { connect, type ConnectOpts, type Socket } from 'node:net';
import { SHARED } from './read-buffer.js';
import type { TlsClient } from './tls.js';

/** Where an upstream listens: `host` is a name or an address. */
export type Target = { readonly host: string; readonly port: number } | { readonly path: string };

/** How to connect to an upstream; unencrypted if `tls` is null. */
export interface Peer {
  readonly target: Target;
  readonly tls: TlsClient | null;
}

/** Why there is no connection: it could not be made, or the TLS handshake failed. */
type DialFailure = 'not_sent' | 'tls';

const KEEP_ALIVE_MS = 60_000;

export interface SocketReader {
  /** Returns the buffer for the next read. */
  nextBuffer(): Buffer;
  /** @param bytes valid until the next read */
  onBytes(bytes: Buffer): void;
}

/** Opens a connection. Calls `onOpen` for its reader, or `onFailed` if it is not ready within `connectMs`. */
export function dial(
  peer: Peer,
  connectMs: number,
  onOpen: (socket: Socket) => SocketReader,
  onFailed: (failure: DialFailure) => void,
): Socket {
  let reader: SocketReader | null = null;
  const socket = openSocket(peer, {
    // Bypasses Node's stream: bytes are read into our own buffer.
    onread: {
      buffer: () => reader?.nextBuffer() ?? SHARED,
      callback: (length, buffer) => {
        reader?.onBytes(buffer.subarray(0, length) as Buffer);
        return true;
      },
    },
  });
  onceReady(socket, peer, connectMs, () => (reader = onOpen(socket)), onFailed);
  return socket;
}

export function openSocket({ target, tls }: Peer, reading: ConnectOpts = {}): Socket {
  const options = { noDelay: true, keepAlive: true, keepAliveInitialDelay: KEEP_ALIVE_MS, ...target, ...reading };
  return tls === null ? connect(options) : tls.connect(options);
}

/** Calls one of the two, once: `onReady` if connected, with TLS if any, within `connectMs`; otherwise `onFailed`. */
export function onceReady(
  socket: Socket,
  { tls }: Peer,
  connectMs: number,
  onReady: () => void,
  onFailed: (failure: DialFailure) => void,
): void {
  let [reached, settled] = [false, false];
  const deadline = setTimeout(() => {
    socket.destroy(Object.assign(new Error('not connected in time'), { code: 'ETIMEDOUT' }));
  }, connectMs);
  const settle = (end: () => void): void => {
    if (settled) return;
    settled = true;
    clearTimeout(deadline);
    end();
  };
  // This listener stays, so that later errors are not thrown: the socket closes anyway.
  socket.on('error', () => settle(() => onFailed(reached ? 'tls' : 'not_sent')));
  socket.once('close', () => settle(() => onFailed('not_sent')));
  if (tls !== null) socket.once('connect', () => (reached = true));
  socket.once(tls === null ? 'connect' : 'secureConnect', () => settle(onReady));
}
