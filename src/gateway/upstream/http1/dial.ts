import { connect, type ConnectOpts, type Socket } from 'node:net';
import { SHARED } from './read-buffer.js';
import type { TlsClient } from './tls.js';

/** Where an upstream listens: `host` is a name or an address. */
export type Target = { readonly host: string; readonly port: number } | { readonly path: string };

/** An upstream as connections to it are made; without `tls` they are plain. */
export interface Peer {
  readonly target: Target;
  readonly tls: TlsClient | null;
}

/** Why there is no connection: none at all, or TLS could not be agreed on. */
type DialFailure = 'not_sent' | 'tls';

const KEEP_ALIVE_MS = 60_000;

export interface SocketReader {
  /** The buffer that the next bytes are read into. */
  nextBuffer(): Buffer;
  /** @param bytes valid until the next read */
  onBytes(bytes: Buffer): void;
}

/** Opens a connection: `onOpen` gives its reader; `onFailed` when there is none within `connectMs`. */
export function dial(
  peer: Peer,
  connectMs: number,
  onOpen: (socket: Socket) => SocketReader,
  onFailed: (failure: DialFailure) => void,
): Socket {
  let reader: SocketReader | null = null;
  const socket = openSocket(peer, {
    // Past Node's stream, and into a buffer of ours.
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

/** Calls one of both, once: TLS is agreed on where it is asked for, all within `connectMs`; or nothing came of it. */
export function onceReady(
  socket: Socket,
  { tls }: Peer,
  connectMs: number,
  onReady: () => void,
  onFailed: (failure: DialFailure) => void,
): void {
  let [reached, settled] = [false, false];
  const deadline = setTimeout(() => socket.destroy(new NotInTime()), connectMs);
  const settle = (end: () => void): void => {
    if (settled) return;
    settled = true;
    clearTimeout(deadline);
    end();
  };
  // Stays: whatever breaks it later, it closes.
  socket.on('error', () => settle(() => onFailed(reached ? 'tls' : 'not_sent')));
  socket.once('close', () => settle(() => onFailed('not_sent')));
  if (tls !== null) socket.once('connect', () => (reached = true));
  socket.once(tls === null ? 'connect' : 'secureConnect', () => settle(onReady));
}

class NotInTime extends Error {
  readonly code = 'ETIMEDOUT';
}
