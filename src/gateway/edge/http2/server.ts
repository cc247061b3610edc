import type { EventEmitter } from 'node:events';
import { constants, createServer, type ServerHttp2Session, type ServerHttp2Stream, type Settings } from 'node:http2';
import type { Socket } from 'node:net';
import type { EdgeLimits } from '../../config/schema/limits.js';
import { REFUSALS } from '../../refusal.js';
import { begin } from '../begin.js';
import { onlyValueOf } from '../fields.js';
import type { Handler } from '../handler.js';
import type { Traffic } from '../traffic.js';
import { finishUnread } from '../unread.js';
import { StreamClient } from './client.js';
import { readStreamHead } from './head.js';
import { Bag } from '../../../shared/bag.js';

const CHECK_MS = 1000;
/** How long a connection may take to close after GOAWAY. */
const FAREWELL_MS = 2000;
/** Heads of up to this many times their limit are read and get 431; larger ones reset the stream. */
const ANSWERED_HEADS = 4;
/** Heads above the limits on one connection that get 431; then the connection is cut. */
const MAX_OVERSIZED = 4;
/** Fields that nghttp2 reads at most; above our own limits, so that a request with too many gets a response. */
const READ_FIELDS = 1100;
/** What a connection may hold per stream: a head, and a waiting piece of a response. */
const STREAM_MIB = 0.1;
/** Invalid or empty frames after which a connection is cut. */
const INVALID_FRAMES = 100;

/**
 * Abandoned requests after which a connection is cut, and how many are forgiven with each check: opening and resetting
 * a stream costs a client one frame each. nghttp2 itself stops at 1000, and keeps the connection.
 */
const MAX_GIVEN_UP = 100;
const FORGOTTEN = 10;

interface Http2Connection {
  readonly session: ServerHttp2Session;
  readonly socket: Socket;
  readonly remote: string | undefined;
  /** Open streams, and all that were ever served. */
  open: number;
  served: number;
  /** Heads and trailers above the limits so far. */
  oversized: number;
  /** Requests that its client abandoned recently. */
  givenUp: number;
  /** `performance.now()` since it has had no exchange, or since GOAWAY. */
  idleSinceMs: number;
  /** GOAWAY was sent: no more requests are accepted. */
  leaving: boolean;
  /** It ends within this turn: whatever still arrives is ignored. */
  cut: boolean;
}

/** HTTP/2 (RFC 9113) by node:http2's core, which sends no responses of its own and has no listener. */
export function createHttp2(current: () => Handler, traffic: Traffic) {
  const connections = new Bag<Http2Connection>();
  const bySocket = new WeakMap<Socket, Http2Connection>();
  const { limits: first } = current();
  const server = createServer({
    settings: { ...settingsOf(first), maxHeaderListSize: ANSWERED_HEADS * first.header_size },
    maxHeaderListPairs: READ_FIELDS,
    maxSessionMemory: Math.max(10, Math.ceil(STREAM_MIB * first.streams)),
    maxSessionInvalidFrames: INVALID_FRAMES,
  });

  const beginStream = (
    connection: Http2Connection,
    stream: ServerHttp2Stream,
    raw: readonly string[],
    endsLater: boolean,
  ): void => {
    const handler = current();
    const { limits } = handler;
    const { head, fault } = readStreamHead(raw, endsLater, connection.remote, limits);
    if (fault === REFUSALS.headers_too_large && isTooMuch(connection, raw, first)) {
      cutOversized(connection, stream, handler);
      return;
    }
    connection.open += 1;
    connection.served += 1;
    if (endsLater) {
      stream.on('trailers', (_fields: object, _flags: number, trailers: readonly string[]) => {
        if (isOversized(trailers, limits) && isTooMuch(connection, trailers, first))
          cutOversized(connection, stream, handler);
      });
    }
    const expectsContinue = endsLater && onlyValueOf(head.fields, 'expect') !== null;
    const client = new StreamClient(stream, { headOnly: head.method === 'HEAD', expectsContinue }, traffic, limits);
    if (traffic.draining || connection.served >= limits.requests_per_connection) dismiss(connection);
    begin({ client, head, fault, overloaded: false, onClosed: () => closed(connection, client) }, handler, traffic);
  };

  const hold = (session: ServerHttp2Session, socket: Socket): void => {
    const connection: Http2Connection = {
      session,
      socket,
      remote: socket.remoteAddress,
      open: 0,
      served: 0,
      oversized: 0,
      givenUp: 0,
      idleSinceMs: performance.now(),
      leaving: false,
      cut: false,
    };
    const entry = connections.add(connection);
    bySocket.set(socket, connection);
    socket.on('close', () => connections.remove(entry));
    // Raw fields are documented by Node, but missing in its types.
    (session as EventEmitter).on(
      'stream',
      (stream: ServerHttp2Stream, _headers: object, flags: number, raw: readonly string[]) => {
        stream.on('error', () => undefined);
        if (connection.cut) return;
        // Already reset: there is no client to respond to.
        if (session.destroyed || stream.destroyed || stream.closed) giveUp(connection);
        else if (traffic.active >= current().limits.exchanges) rejectConnection(connection, stream, current());
        else beginStream(connection, stream, raw, (flags & constants.NGHTTP2_FLAG_END_STREAM) === 0);
      },
    );
  };

  setInterval(() => {
    for (const connection of connections.items()) check(connection, current().limits);
  }, CHECK_MS).unref();
  return {
    /** Accepts a connection, from its first byte on. */
    take: (socket: Socket): void => {
      if (socket.destroyed) return;
      server.once('session', (session) => hold(session, socket));
      server.emit('connection', socket);
    },
    /** Returns whether the connection has an exchange. */
    isBusy: (socket: Socket): boolean => (bySocket.get(socket)?.open ?? 0) > 0,
    /** New connections get the current limits. */
    retune: (): void => server.updateSettings(settingsOf(current().limits)),
    /** Sends GOAWAY to every client; requests in flight end. */
    drain: (): void => connections.items().forEach(dismiss),
  };
}

function settingsOf({ streams }: EdgeLimits): Settings {
  return { maxConcurrentStreams: streams };
}

/** Sends GOAWAY to a client; requests in flight end. */
function dismiss(connection: Http2Connection): void {
  if (connection.leaving) return;
  connection.leaving = true;
  connection.idleSinceMs = performance.now();
  connection.session.close();
}

/** Trailers are read and dropped. */
function isOversized(raw: readonly string[], limits: EdgeLimits): boolean {
  return raw.length / 2 > limits.header_fields || bytesOf(raw) > limits.header_size;
}

function bytesOf(raw: readonly string[]): number {
  return raw.reduce((sum, text) => sum + text.length, 0);
}

/**
 * nghttp2 bounds heads only once its client has acknowledged SETTINGS. Before that, a head that it would have reset
 * ends the connection, as does the fifth that gets 431: so the cost of heads is bounded per connection.
 */
function isTooMuch(connection: Http2Connection, raw: readonly string[], limits: EdgeLimits): boolean {
  connection.oversized += 1;
  return connection.oversized > MAX_OVERSIZED || bytesOf(raw) > ANSWERED_HEADS * limits.header_size;
}

function cutOversized(connection: Http2Connection, stream: ServerHttp2Stream, handler: Handler): void {
  stream.close(constants.NGHTTP2_ENHANCE_YOUR_CALM);
  cut(connection, 'heads above the limits');
  finishUnread(connection.remote, REFUSALS.headers_too_large, handler);
}

/** Refuses a stream that was certainly not processed (RFC 9113 §8.7). A response would wait for its client. */
function rejectConnection(connection: Http2Connection, stream: ServerHttp2Stream, handler: Handler): void {
  connection.idleSinceMs = performance.now();
  stream.close(constants.NGHTTP2_REFUSED_STREAM);
  finishUnread(connection.remote, REFUSALS.overloaded, handler);
}

function closed(connection: Http2Connection, { left }: StreamClient): void {
  if (left) giveUp(connection);
  connection.open -= 1;
  if (connection.open === 0) connection.idleSinceMs = performance.now();
}

function giveUp(connection: Http2Connection): void {
  connection.givenUp += 1;
  if (connection.givenUp >= MAX_GIVEN_UP) cut(connection, 'too many requests given up');
}

/**
 * Later: everything that a stream causes, ticks and microtasks too, runs while nghttp2 reads. It would continue with
 * memory that the end of its session freed, and crash the process.
 */
function cut(connection: Http2Connection, why: string): void {
  if (connection.cut) return;
  connection.cut = true;
  setImmediate(() => connection.session.destroy(new Error(why), constants.NGHTTP2_ENHANCE_YOUR_CALM));
}

/** Sends GOAWAY to an idle connection (before its first request: after the time for a head), then cuts it. */
function check(connection: Http2Connection, limits: EdgeLimits): void {
  connection.givenUp = Math.max(0, connection.givenUp - FORGOTTEN);
  const idleMs = performance.now() - connection.idleSinceMs;
  if (connection.open > 0) return;
  if (
    !connection.leaving &&
    (connection.session.destroyed || idleMs > (connection.served === 0 ? limits.headers_time : limits.keep_alive))
  )
    dismiss(connection);
  else if (connection.leaving && idleMs > FAREWELL_MS) connection.socket.destroy();
}
