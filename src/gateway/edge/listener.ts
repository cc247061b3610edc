import { createServer, STATUS_CODES } from 'node:http';
import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import { Server as TlsServer } from 'node:https';
import type { Socket } from 'node:net';
import type { TLSSocket } from 'node:tls';
import type { Certificate } from '../config/certificate.js';
import type { EdgeLimits } from '../config/settings.js';
import type { Client, Exchange } from '../exchange.js';
import { REFUSALS } from '../refusal.js';
import type { Refusal } from '../refusal.js';
import { nextTraceparent, requestIdOf } from '../observe/trace.js';
import { bucketOf } from './address.js';
import type { AddressReader } from './address.js';
import { renderRefusal } from './answer.js';
import { HttpClient } from './client.js';
import { connectionOf, lingerOnClose, proceed, queue } from './connection.js';
import { originIn } from './cors.js';
import { afterBoth, travel } from './gate.js';
import type { Gate, Traffic } from './gate.js';
import { ignoredUpgrade, requestsThat } from './handshake.js';
import { createHttp2 } from './http2.js';
import type { Http2 } from './http2.js';
import { freshStory, headOf, open } from './open.js';
import { expectProxyHeaders } from './proxy-protocol.js';
import type { ProxyRefusal } from './proxy-protocol.js';
import { createTlsServer, handshakeRules } from './tls.js';
import { createUpgrades } from './upgrade.js';
import type { Upgrades } from './upgrade.js';
import { Bag } from '../../shared/bag.js';

export interface Listener {
  readonly server: Server;
  /** Exchanges begun and not ended. */
  inFlight(): number;
  /** WebSocket tunnels, handshakes under way included. */
  tunnels(): number;
  /** Bounds connections and times by the limits that hold now; with TLS, new connections get this certificate. */
  retune(certificate: Certificate | null): void;
  /** From now on every answer ends its connection. */
  drain(): void;
  /** Ends every connection now. */
  destroy(): void;
}

/** How the public is served over TLS. */
export interface Security {
  readonly certificate: Certificate;
  /** Whether clients may choose HTTP/2. */
  readonly http2: boolean;
}

/**
 * The public server. Everything Node would answer by itself is answered here instead (HAZARDS 4).
 * @param security null: without TLS, and so without HTTP/2
 * @param onUnproxied told of each connection closed for want of a good PROXY header; null: none is expected
 */
export function createListener(current: () => Gate, security: Security | null, onUnproxied: ((why: ProxyRefusal) => void) | null): Listener {
  const accepted = new Bag<Socket>();
  // Those that may send requests: with TLS, after the handshake, and as the socket that hides it.
  const sockets = new Bag<Socket>();
  const traffic: Traffic = { active: 0, draining: false };
  const upgrades = createUpgrades(current, traffic);
  const http2 = security?.http2 === true ? createHttp2(current, traffic) : null;

  const begin = (request: IncomingMessage, response: ServerResponse, expectsContinue: boolean): void => {
    const { socket } = request;
    const gate = current();
    const { limits, addresses } = gate;
    const connection = connectionOf(socket);
    traffic.active += 1;
    const end = afterBoth(() => finish(traffic, gate, exchange, response));
    const client = new HttpClient(request, response, expectsContinue, limits.requestMs, () => {
      end();
      proceed(socket);
    });
    connection.current = client;
    connection.served += 1;
    const exchange = open(headOf(request), client, addresses, limits);
    if (traffic.draining || connection.served >= limits.requestsPerConnection || ignoredUpgrade(request)) client.closeAfter();
    if (connection.broken !== null && connection.waiting.length === 0) client.breakOff(connection.broken);
    void travel(exchange, gate, traffic.active > limits.exchanges).then(end);
  };

  const onRequest = (request: IncomingMessage, response: ServerResponse, expectsContinue: boolean): void => {
    const connection = connectionOf(request.socket);
    if (connection.closing) return;
    if (connection.current === null) begin(request, response, expectsContinue);
    else queue(request.socket, () => begin(request, response, expectsContinue));
  };

  const server = createStrictServer(current().limits, (request) => upgrades.wanted(request), security?.certificate ?? null, http2);
  server.on(security === null ? 'connection' : 'secureConnection', (socket: Socket) => greet(socket, sockets));
  if (onUnproxied !== null) expectProxyHeaders(server, current, onUnproxied);
  // Behind it: a connection counts from its first moment.
  server.on('connection', (socket: Socket) => keep(socket, accepted));
  onEveryRequest(server, onRequest);
  server.on('upgrade', (request: IncomingMessage, socket: Socket, head: Buffer) => upgrades.begin(request, socket, head));
  server.on('clientError', (error: ParserError, socket: Socket) => onClientError(error, socket, current()));
  server.on('connect', (_request: IncomingMessage, socket: Socket) => giveUp(socket, REFUSALS.malformed_request, current()));
  return {
    server,
    inFlight: () => traffic.active,
    tunnels: () => upgrades.count(),
    retune: (next) => {
      tune(server, current().limits);
      http2?.retune();
      if (server instanceof TlsServer && next !== null) server.setSecureContext(handshakeRules(next));
    },
    drain: () => {
      traffic.draining = true;
      http2?.drain();
      for (const socket of sockets.items()) endAfterCurrent(socket);
    },
    destroy: () => destroyAll(accepted, upgrades),
  };
}

function finish(traffic: Traffic, gate: Gate, exchange: Exchange, { statusCode }: ServerResponse): void {
  traffic.active -= 1;
  gate.finish(exchange, statusCode);
}

function destroyAll(sockets: Bag<Socket>, upgrades: Upgrades): void {
  upgrades.closeAll('shutdown');
  for (const socket of sockets.items()) socket.destroy();
}

function endAfterCurrent(socket: Socket): void {
  const { current } = connectionOf(socket);
  if (current === null) socket.destroySoon();
  else current.closeAfter();
}

/** A connection that may send requests of HTTP/1; those of HTTP/2 end in their own way. */
function greet(socket: Socket | TLSSocket, sockets: Bag<Socket>): void {
  if ('alpnProtocol' in socket && socket.alpnProtocol === 'h2') return;
  keep(socket, sockets);
  lingerOnClose(socket);
}

/** Those with an Expect too, which Node would answer by itself. */
function onEveryRequest(server: Server, take: (request: IncomingMessage, response: ServerResponse, expectsContinue: boolean) => void): void {
  server.on('request', (request, response) => take(request, response, false));
  server.on('checkContinue', (request: IncomingMessage, response: ServerResponse) => take(request, response, true));
  server.on('checkExpectation', (request: IncomingMessage, response: ServerResponse) => take(request, response, false));
}

/** In `bag` as long as it is open. */
function keep(socket: Socket, bag: Bag<Socket>): void {
  const place = bag.add(socket);
  socket.on('close', () => bag.remove(place));
}

function createStrictServer(limits: EdgeLimits, upgrades: (request: IncomingMessage) => boolean, certificate: Certificate | null, http2: Http2 | null): Server {
  const options = {
    IncomingMessage: requestsThat(upgrades),
    maxHeaderSize: limits.headerBytes,
    connectionsCheckingInterval: 1000,
    requireHostHeader: false,
    insecureHTTPParser: false,
    noDelay: true,
  };
  const server = certificate === null ? createServer(options) : createTlsServer(options, certificate, limits.headersMs, http2 === null ? null : (socket) => http2.take(socket));
  // Own count of fields: Node drops those beyond its own, but still frames by them (HAZARDS 2).
  server.maxHeadersCount = 0;
  tune(server, limits);
  return server;
}

/** What may change while the server runs; only the header's size is fixed when it is made. */
function tune(server: Server, limits: EdgeLimits): void {
  server.headersTimeout = limits.headersMs;
  server.requestTimeout = limits.requestMs;
  server.keepAliveTimeout = limits.keepAliveMs;
  server.maxConnections = limits.connections;
}

/** `rawPacket` is what it was reading, credentials included. */
interface ParserError extends NodeJS.ErrnoException {
  readonly rawPacket?: Buffer;
}

/** The parser gave up, or the client is gone. */
function onClientError(error: ParserError, socket: Socket, gate: Gate): void {
  if (connectionOf(socket).closing) return;
  if (error.code === 'ECONNRESET' || socket.destroyed || !socket.writable) socket.destroy();
  else giveUp(socket, refusalOf(error.code), gate, error.rawPacket);
}

/**
 * No more requests can be read. Those read before keep their places (HAZARDS 5), and the newest of
 * them learns that its body, if still on its way, will not come; with none, the answer is written here.
 */
function giveUp(socket: Socket, refusal: Refusal, gate: Gate, packet?: Buffer): void {
  const connection = connectionOf(socket);
  if (connection.broken !== null) return;
  connection.broken = refusal;
  if (connection.current === null) answerRaw(socket, refusal, gate, packet);
  else if (connection.waiting.length === 0) connection.current.breakOff(refusal);
}

function refusalOf(code: string | undefined): Refusal {
  switch (code) {
    case undefined: return REFUSALS.malformed_request;
    case 'HPE_HEADER_OVERFLOW': return REFUSALS.headers_too_large;
    case 'HPE_CHUNK_EXTENSIONS_OVERFLOW': return REFUSALS.body_too_large;
    case 'ERR_HTTP_REQUEST_TIMEOUT': return REFUSALS.request_timeout;
    default: return REFUSALS.malformed_request;
  }
}

/** An answer past Node's HTTP server, with all that every answer carries. */
function answerRaw(socket: Socket, refusal: Refusal, gate: Gate, packet?: Buffer): void {
  connectionOf(socket).closing = true;
  socket.on('error', () => socket.destroy());
  const exchange = rawExchange(socket, gate.addresses);
  exchange.story.refusal = refusal;
  if (gate.cors !== null) exchange.story.cors = gate.cors.fieldsFor(originIn(packet));
  void gate.showFigures(exchange).then(() => {
    const { headers, body } = renderRefusal(exchange, refusal);
    let text = `HTTP/1.1 ${refusal.status} ${STATUS_CODES[refusal.status] ?? ''}\r\nDate: ${new Date().toUTCString()}\r\n`;
    for (let index = 0; index < headers.length; index += 2) text += `${headers[index]!}: ${headers[index + 1]!}\r\n`;
    if (!refusal.closes) text += 'Connection: close\r\n';
    if (!socket.destroyed) socket.write(`${text}\r\n${body}`);
    socket.destroySoon();
    gate.finish(exchange, refusal.status);
  });
}

/** Stands for a client whose request could not be read; its answer goes to the socket itself. */
const NOBODY: Client = {
  gone: false, started: true, bytesOut: 0,
  onGone: () => undefined, readBody: () => Promise.resolve('gone'), send: () => undefined, start: () => undefined,
  write: () => true, onDrain: () => undefined, end: () => undefined, abort: () => undefined,
};

function rawExchange(socket: Socket, addresses: AddressReader): Exchange {
  const address = addresses.read(socket.remoteAddress, null);
  return {
    id: requestIdOf(null), ...nextTrace(), version: null, method: '', path: '', query: '', headers: [], authorization: null,
    hasBody: false, contentLength: null, address, addressBucket: bucketOf(address),
    startedMs: performance.now(), fault: null, client: NOBODY, story: freshStory(),
  };
}

function nextTrace(): { traceparent: string; traceContinued: boolean } {
  const { traceparent, continued } = nextTraceparent(null);
  return { traceparent, traceContinued: continued };
}
