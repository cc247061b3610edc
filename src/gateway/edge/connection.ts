import type { Socket } from 'node:net';
import type { Refusal } from '../refusal.js';

/**
 * How long a closing connection is still read, so that the client gets its answer: at most this long
 * without a byte, and altogether at most this long and for this many bytes.
 */
const LINGER_IDLE_MS = 2000;
const LINGER_MS = 10_000;
const LINGER_BYTES = 64 * 1024 * 1024;

/** Requests that may wait on one connection before it is read no further. */
const MAX_WAITING = 16;

/** The exchange on a connection, as far as the connection cares. */
export interface Ongoing {
  breakOff(refusal: Refusal): void;
  closeAfter(): void;
}

/** What the gateway remembers of one connection. */
export interface Connection {
  /** The exchange on it, until its answer ended: one at a time, whatever the client pipelines. */
  current: Ongoing | null;
  /** Requests read meanwhile, in order. They begin one by one, or never if the connection ends before. */
  readonly waiting: (() => void)[];
  /** Why nothing after the newest request could be read; null while the parser is well. */
  broken: Refusal | null;
  /** Exchanges begun on it. */
  served: number;
  /** No further request is taken from it. */
  closing: boolean;
}

const connections = new WeakMap<Socket, Connection>();

export function connectionOf(socket: Socket): Connection {
  let connection = connections.get(socket);
  if (connection === undefined) {
    connection = { current: null, waiting: [], broken: null, served: 0, closing: false };
    connections.set(socket, connection);
  }
  return connection;
}

/** Lets `begin` wait for its turn. A client that pipelines without end is read no further. */
export function queue(socket: Socket, begin: () => void): void {
  const { waiting } = connectionOf(socket);
  waiting.push(begin);
  if (waiting.length >= MAX_WAITING) socket.pause();
}

/** The exchange ended: the next request on its connection has its turn, unless that answer was the last. */
export function proceed(socket: Socket): void {
  const connection = connectionOf(socket);
  connection.current = null;
  const begin = connection.waiting.shift();
  if (begin === undefined || connection.closing || socket.destroyed) return;
  socket.setTimeout(0);
  if (connection.waiting.length < MAX_WAITING) socket.resume();
  begin();
}

/**
 * Makes every orderly close of `socket` a lingering one: closing while bytes are unread resets the
 * connection, and the client never sees why (HAZARDS 8). Node closes by `destroySoon`.
 */
export function lingerOnClose(socket: Socket): void {
  socket.destroySoon = () => linger(socket);
}

function linger(socket: Socket): void {
  const connection = connectionOf(socket);
  if (connection.closing && socket.writableEnded) return;
  connection.closing = true;
  connection.waiting.length = 0;
  if (socket.destroyed) return;
  const cut = (): void => void socket.destroy();
  const deadline = setTimeout(cut, LINGER_MS);
  socket.once('close', () => clearTimeout(deadline));
  socket.end();
  if (socket.readableEnded) {
    if (socket.writableFinished) cut();
    else socket.once('finish', cut);
    return;
  }
  let bytes = 0;
  socket.once('end', cut);
  socket.setTimeout(LINGER_IDLE_MS, cut);
  socket.removeAllListeners('data');
  socket.on('data', (chunk: Buffer) => {
    bytes += chunk.length;
    if (bytes > LINGER_BYTES) cut();
  });
  // Node's parser read the socket past its stream, which still believes to be reading; an empty push wakes it.
  socket.push(Buffer.alloc(0));
  socket.resume();
}
