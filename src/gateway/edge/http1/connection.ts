import type { IncomingMessage } from 'node:http';
import type { Socket } from 'node:net';
import type { EdgeLimits } from '../../config/settings.js';
import { REFUSALS, type Refusal } from '../../refusal.js';
import type { Traffic } from '../traffic.js';

/** How long a closing connection is read on, so that its client gets the answer: idle, in all, and in bytes. */
const LINGER_IDLE_MS = 2000;
const LINGER_MS = 10_000;
const LINGER_BYTES = 64 * 1024 * 1024;

/**
 * How long a client that sent FIN may go on without taking anything: it may still read (RFC 9112 §9.6), or be gone, and
 * nothing but a write would tell.
 */
const HALF_CLOSED_MS = 5000;

/** Requests that may wait on one connection before it is read no further; and at most, as one read may bring more. */
const PAUSED_AT = 16;
const MAX_WAITING = 64;

export interface Ongoing {
  /** Whether more of a long body may come, which is timed piece by piece. */
  readonly isStreaming: boolean;
  breakOff(refusal: Refusal): void;
  closeAfter(): void;
}

interface Connection {
  /** The exchange on it, until its answer ended: one at a time, whatever the client pipelines. */
  current: Ongoing | null;
  /** Requests read meanwhile, in order. They begin one by one, or never if the connection ends before. */
  readonly waiting: (() => void)[];
  /** Why nothing after the newest request could be read; null while the parser is well. */
  broken: Refusal | null;
  served: number;
  /** No further request is taken from it. */
  closing: boolean;
  /** Its client sent FIN: no further request comes. */
  halfClosed: boolean;
  readonly traffic: Traffic;
  /** Fields of a head that were to be read when it opened; of a head with more, nobody has seen all. */
  readonly headerFields: number;
}

const connections = new WeakMap<Socket, Connection>();

export function trackConnection(socket: Socket, traffic: Traffic, { headerFields }: EdgeLimits): void {
  const connection: Connection = {
    current: null,
    waiting: [],
    broken: null,
    served: 0,
    closing: false,
    halfClosed: false,
    traffic,
    headerFields,
  };
  connections.set(socket, connection);
  // With TLS only now: nobody needs half a connection for a handshake.
  socket.allowHalfOpen = true;
  socket.on('end', () => onFin(socket, connection));
  socket.on('close', () => forgetWaiting(connection));
  lingerOnClose(socket);
}

export function connectionOf(socket: Socket): Connection {
  return connections.get(socket)!;
}

/** Whether there is an exchange on it, or a tunnel. */
export function isServing(socket: Socket): boolean {
  return (connections.get(socket)?.current ?? null) !== null;
}

/** The requests that were read are answered. */
function onFin(socket: Socket, connection: Connection): void {
  connection.halfClosed = true;
  if (connection.current === null) return;
  if (connection.waiting.length === 0) connection.current.closeAfter();
  cutWhenIdle(socket, 0);
}

/** Cuts a connection on which nothing moves for so long; 0: never, as long as its client may send. */
export function cutWhenIdle(socket: Socket, ms: number): void {
  const { halfClosed } = connectionOf(socket);
  socket.setTimeout(halfClosed ? Math.min(ms || HALF_CLOSED_MS, HALF_CLOSED_MS) : ms);
}

/** Lets `begin` wait for its turn. A client that pipelines without end is read no further. */
export function queue(socket: Socket, begin: () => void): void {
  const { waiting, traffic } = connectionOf(socket);
  waiting.push(begin);
  traffic.pipelined += 1;
  if (waiting.length >= PAUSED_AT) socket.pause();
}

export function isFull(socket: Socket, { pipelined }: EdgeLimits): boolean {
  const { current, waiting, traffic } = connectionOf(socket);
  return current !== null && (waiting.length >= MAX_WAITING || traffic.pipelined >= pipelined);
}

/** Of a head with more fields than are read, Node leaves some out: one of those may be a second Host. */
export function faultIn({ rawHeaders, socket }: IncomingMessage): Refusal | null {
  return rawHeaders.length / 2 > connectionOf(socket).headerFields ? REFUSALS.headers_too_large : null;
}

function forgetWaiting({ waiting, traffic }: Connection): void {
  traffic.pipelined -= waiting.length;
  waiting.length = 0;
}

/** The exchange ended: the next request on its connection has its turn, unless that answer was the last. */
export function beginNext(socket: Socket): void {
  const connection = connectionOf(socket);
  connection.current = null;
  const begin = connection.waiting.shift();
  if (begin === undefined) return;
  connection.traffic.pipelined -= 1;
  if (connection.closing || socket.destroyed) return;
  cutWhenIdle(socket, 0);
  if (connection.waiting.length < PAUSED_AT && connection.broken === null) socket.resume();
  begin();
}

/** Closing while bytes are unread resets the connection, and its client never sees why. Node calls `destroySoon`. */
function lingerOnClose(socket: Socket): void {
  socket.destroySoon = () => linger(socket);
}

function linger(socket: Socket): void {
  const connection = connectionOf(socket);
  if (connection.closing && socket.writableEnded) return;
  connection.closing = true;
  forgetWaiting(connection);
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
