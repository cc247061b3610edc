import type { EventEmitter } from 'node:events';
import { constants, createServer, type ServerHttp2Session, type ServerHttp2Stream, type Settings } from 'node:http2';
import type { Socket } from 'node:net';
import type { EdgeLimits } from '../../config/settings.js';
import { REFUSALS } from '../../refusal.js';
import { begin } from '../begin.js';
import { onlyValueOf } from '../fields.js';
import type { Handler } from '../handler.js';
import type { Traffic } from '../traffic.js';
import { unreadExchange } from '../unread.js';
import { StreamClient } from './client.js';
import { readStreamHead } from './head.js';
import { Bag } from '../../../shared/bag.js';

const CHECK_MS = 1000;
/** How long a connection may take to close after GOAWAY. */
const FAREWELL_MS = 2000;
/** Heads up to this many times their limit are read, to be answered 431; beyond it the stream is reset. */
const ANSWERED_HEADS = 4;
/** Heads above the limits on one connection, answered 431, after which it is cut. */
const MAX_OVERSIZED = 4;
/** Fields that nghttp2 reads at most; above our own limits, so that a request with too many gets a response. */
const READ_FIELDS = 1100;
/** What a connection may hold for each of its streams: a head, and a piece of an answer that waits. */
const STREAM_MIB = 0.1;
/** Frames that break the rules, empty ones among them, after which a connection is cut. */
const INVALID_FRAMES = 100;

/**
 * Requests given up on one connection at which it is cut, and how many are forgotten with each check: opening and
 * resetting streams costs a client a frame each. nghttp2 itself stops at 1000, and hangs on.
 */
const MAX_GIVEN_UP = 100;
const FORGOTTEN = 10;

interface Http2Connection {
  readonly session: ServerHttp2Session;
  readonly socket: Socket;
  readonly remote: string | undefined;
  /** Streams that are open on it, and all that were ever served. */
  open: number;
  served: number;
  /** Heads and trailers above the limits so far. */
  oversized: number;
  /** Requests its client gave up lately. */
  givenUp: number;
  /** `performance.now()` since when it has had no exchange, or since its farewell. */
  idleSinceMs: number;
  /** GOAWAY was sent: nothing more is taken from it. */
  leaving: boolean;
  /** It ends within this turn: nothing that still comes is looked at. */
  cut: boolean;
}

/** HTTP/2 (RFC 9113) by node:http2's core, which answers nothing by itself and has no listener of its own. */
export function createHttp2(current: () => Handler, traffic: Traffic) {
  const connections = new Bag<Http2Connection>();
  const bySocket = new WeakMap<Socket, Http2Connection>();
  const { limits: first } = current();
  const server = createServer({
    settings: { ...settingsOf(first), maxHeaderListSize: ANSWERED_HEADS * first.headerBytes },
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
    if (traffic.draining || connection.served >= limits.requestsPerConnection) dismiss(connection);
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
    // Its raw fields are in Node's documentation and not in its types.
    (session as EventEmitter).on(
      'stream',
      (stream: ServerHttp2Stream, _headers: object, flags: number, raw: readonly string[]) => {
        stream.on('error', () => undefined);
        if (connection.cut) return;
        // Reset in the same breath: nobody asks any more.
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
    /** Takes a connection, from its first byte on. */
    take: (socket: Socket): void => {
      if (socket.destroyed) return;
      server.once('session', (session) => hold(session, socket));
      server.emit('connection', socket);
    },
    /** Whether there is an exchange on it. */
    isBusy: (socket: Socket): boolean => (bySocket.get(socket)?.open ?? 0) > 0,
    /** New connections get the limits that hold now. */
    retune: (): void => server.updateSettings(settingsOf(current().limits)),
    /** Tells every client to send nothing more; what is under way ends. */
    drain: (): void => connections.items().forEach(dismiss),
  };
}

function settingsOf({ streams }: EdgeLimits): Settings {
  return { maxConcurrentStreams: streams };
}

/** Tells a client that nothing more is taken from it (GOAWAY); what is under way ends. */
function dismiss(connection: Http2Connection): void {
  if (connection.leaving) return;
  connection.leaving = true;
  connection.idleSinceMs = performance.now();
  connection.session.close();
}

/** Trailers are read and dropped. */
function isOversized(raw: readonly string[], { headerBytes, headerFields }: EdgeLimits): boolean {
  return raw.length / 2 > headerFields || bytesOf(raw) > headerBytes;
}

function bytesOf(raw: readonly string[]): number {
  return raw.reduce((sum, text) => sum + text.length, 0);
}

/**
 * nghttp2 bounds heads only once its client acknowledged SETTINGS: one that would have been reset then ends its
 * connection, as does the fifth that is answered 431. So what heads cost is bounded for each connection.
 */
function isTooMuch(connection: Http2Connection, raw: readonly string[], { headerBytes }: EdgeLimits): boolean {
  connection.oversized += 1;
  return connection.oversized > MAX_OVERSIZED || bytesOf(raw) > ANSWERED_HEADS * headerBytes;
}

function cutOversized(connection: Http2Connection, stream: ServerHttp2Stream, handler: Handler): void {
  stream.close(constants.NGHTTP2_ENHANCE_YOUR_CALM);
  cut(connection, 'heads above the limits');
  const exchange = unreadExchange(connection.remote, handler, '2');
  exchange.logEntry.refusal = REFUSALS.headers_too_large;
  handler.finish(exchange, REFUSALS.headers_too_large.status);
}

/** A stream that certainly was not worked on (RFC 9113 §8.7). An answer would be held until the client takes it. */
function rejectConnection(connection: Http2Connection, stream: ServerHttp2Stream, handler: Handler): void {
  connection.idleSinceMs = performance.now();
  stream.close(constants.NGHTTP2_REFUSED_STREAM);
  const exchange = unreadExchange(connection.remote, handler, '2');
  exchange.logEntry.refusal = REFUSALS.overloaded;
  handler.finish(exchange, REFUSALS.overloaded.status);
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

/** Dismisses an idle connection (before its first request: after the time for a head), and cuts one that stays. */
function check(connection: Http2Connection, { headersMs, keepAliveMs }: EdgeLimits): void {
  connection.givenUp = Math.max(0, connection.givenUp - FORGOTTEN);
  const idleMs = performance.now() - connection.idleSinceMs;
  if (connection.open > 0) return;
  if (
    !connection.leaving &&
    (connection.session.destroyed || idleMs > (connection.served === 0 ? headersMs : keepAliveMs))
  )
    dismiss(connection);
  else if (connection.leaving && idleMs > FAREWELL_MS) connection.socket.destroy();
}
