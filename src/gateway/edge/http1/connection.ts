import type { IncomingMessage } from 'node:http';
import type { Socket } from 'node:net';
import type { EdgeLimits } from '../../config/schema/limits.js';
import { REFUSALS, type Refusal } from '../../refusal.js';
import type { Traffic } from '../traffic.js';

/** How long a closing connection is still read, so that its client gets the response: idle time, total, bytes. */
const LINGER_IDLE_MS = 2000;
const LINGER_MS = 10_000;
const LINGER_BYTES = 64 * 1024 * 1024;

/**
 * How long a client that sent FIN may take nothing: it may still read (RFC 9112 §9.6) or be gone, and only a write
 * would show which.
 */
const HALF_CLOSED_MS = 5000;

/** Requests waiting on one connection at which reading pauses, and their maximum: one read may bring more. */
const PAUSED_AT = 16;
const MAX_WAITING = 64;

export interface Ongoing {
  /** Whether more of a long body may arrive; it is timed piece by piece. */
  readonly isStreaming: boolean;
  breakOff(refusal: Refusal): void;
  closeAfter(): void;
}

interface Connection {
  /** The exchange in progress, until its response has ended: one at a time, even if the client pipelines. */
  current: Ongoing | null;
  /** Requests read meanwhile, in order. They begin one by one, or never if the connection ends first. */
  readonly waiting: (() => void)[];
  /** Why nothing after the newest request can be read; null while the parser works. */
  broken: Refusal | null;
  served: number;
  /** No further request is accepted. */
  closing: boolean;
  /** The client sent FIN: no further request will arrive. */
  halfClosed: boolean;
  readonly traffic: Traffic;
  /** The limit of header fields when it opened; a head with more was not read completely. */
  readonly headerFields: number;
}

const connections = new WeakMap<Socket, Connection>();

export function trackConnection(socket: Socket, traffic: Traffic, { header_fields: headerFields }: EdgeLimits): void {
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
  // With TLS only after the handshake, which needs no half-open connection.
  socket.allowHalfOpen = true;
  socket.on('end', () => onFin(socket, connection));
  socket.on('close', () => forgetWaiting(connection));
  // Node calls it. Closing while bytes are unread would reset the connection before its client sees why.
  socket.destroySoon = () => linger(socket);
}

export function connectionOf(socket: Socket): Connection {
  return connections.get(socket)!;
}

/** Whether the connection has an exchange or a tunnel. */
export function isServing(socket: Socket): boolean {
  return (connections.get(socket)?.current ?? null) !== null;
}

/** Handles the client's FIN: requests that were read still get their responses. */
function onFin(socket: Socket, connection: Connection): void {
  connection.halfClosed = true;
  if (connection.current === null) return;
  if (connection.waiting.length === 0) connection.current.closeAfter();
  cutWhenIdle(socket, 0);
}

/** Cuts the connection when nothing moves for `ms`; 0: never, unless its client sent FIN. */
export function cutWhenIdle(socket: Socket, ms: number): void {
  const { halfClosed } = connectionOf(socket);
  socket.setTimeout(halfClosed ? Math.min(ms || HALF_CLOSED_MS, HALF_CLOSED_MS) : ms);
}

/** Lets `begin` wait for its turn. Stops reading from a client that pipelines too much. */
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

/** Refuses a head with too many fields: Node drops some of them, and one may be a second Host. */
export function faultIn({ rawHeaders, socket }: IncomingMessage): Refusal | null {
  return rawHeaders.length / 2 > connectionOf(socket).headerFields ? REFUSALS.headers_too_large : null;
}

function forgetWaiting({ waiting, traffic }: Connection): void {
  traffic.pipelined -= waiting.length;
  waiting.length = 0;
}

/** Ends the current exchange and begins the next request, unless that response was the connection's last. */
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
  // Node's parser bypasses the socket's stream, which still assumes a pending read; an empty push ends that.
  socket.push(Buffer.alloc(0));
  socket.resume();
}
