import type { Socket } from 'node:net';
import type { Refusal } from '../refusal.js';

/** How long, and for how many bytes, a closing connection is still read, so that the client gets its answer. */
const LINGER_MS = 2000;
const LINGER_BYTES = 4 * 1024 * 1024;

/** What the gateway remembers of one connection. */
export interface Connection {
  /** The newest exchange on it, until its answer ended. */
  latest: { breakOff(refusal: Refusal): void } | null;
  /** Exchanges begun on it. */
  served: number;
  /** No further request is read from it. */
  closing: boolean;
}

const connections = new WeakMap<Socket, Connection>();

export function connectionOf(socket: Socket): Connection {
  let connection = connections.get(socket);
  if (connection === undefined) {
    connection = { latest: null, served: 0, closing: false };
    connections.set(socket, connection);
  }
  return connection;
}

/**
 * Makes every orderly close of `socket` a lingering one: closing while bytes are unread resets the
 * connection, and the client never sees why (HAZARDS 8). Node closes by `destroySoon`.
 */
export function lingerOnClose(socket: Socket): void {
  socket.destroySoon = () => linger(socket);
}

function linger(socket: Socket): void {
  connectionOf(socket).closing = true;
  if (socket.destroyed) return;
  let bytes = 0;
  const deadline = setTimeout(() => socket.destroy(), LINGER_MS);
  socket.once('close', () => clearTimeout(deadline));
  socket.once('end', () => socket.destroy());
  socket.removeAllListeners('data');
  socket.on('data', (chunk: Buffer) => {
    bytes += chunk.length;
    if (bytes > LINGER_BYTES) socket.destroy();
  });
  socket.end();
  socket.resume();
}
