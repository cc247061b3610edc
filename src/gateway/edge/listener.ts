import { createServer } from 'node:http';
import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import { Server as TlsServer } from 'node:https';
import type { Socket } from 'node:net';
import type { TLSSocket } from 'node:tls';
import type { Certificate } from '../config/certificate.js';
import type { EdgeLimits } from '../config/settings.js';
import { REFUSALS } from '../refusal.js';
import { onClientError, stopReading } from './http1/broken.js';
import type { ParserError } from './http1/broken.js';
import { HttpClient } from './http1/client.js';
import { connectionOf, faultIn, greet, isOver, proceed, queue } from './http1/connection.js';
import { afterBoth, Traffic, travel } from './gate.js';
import type { Gate } from './gate.js';
import { ignoredUpgrade, requestsThat } from './websocket/handshake.js';
import { createHttp2 } from './http2/server.js';
import type { Http2 } from './http2/server.js';
import { headOf, open } from './open.js';
import { expectProxyHeaders } from './proxy-protocol/listener.js';
import type { ProxyRefusal } from './proxy-protocol/listener.js';
import { createTlsServer, handshakeRules } from './tls.js';
import { createUpgrades } from './websocket/upgrade.js';
import type { Upgrades } from './websocket/upgrade.js';
import { Bag } from '../../shared/bag.js';

export interface Listener {
  readonly server: Server;
  /** Exchanges begun and not ended. */
  inFlight(): number;
  /** Those of them that wait for their client: for the rest of its body, or until it takes the answer. */
  waiting(): number;
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
 * The public server. What Node would answer by itself (parse errors, no Host, an unknown Expect, CONNECT) is
 * answered here instead: it would lack rate headers and an Error body.
 * @param security null: without TLS, and so without HTTP/2
 * @param onUnproxied told of each connection closed for want of a good PROXY header; null: none is expected
 */
export function createListener(current: () => Gate, security: Security | null, onUnproxied: ((why: ProxyRefusal) => void) | null): Listener {
  const accepted = new Bag<Socket>();
  // Those that may send requests: with TLS, after the handshake, and as the socket that hides it.
  const sockets = new Bag<Socket>();
  const traffic = new Traffic();
  const upgrades = createUpgrades(current, traffic);
  const http2 = security?.http2 === true ? createHttp2(current, traffic) : null;

  const onRequest = (request: IncomingMessage, response: ServerResponse, expectsContinue: boolean): void => {
    const connection = connectionOf(request.socket);
    if (connection.closing) return;
    if (connection.current === null) begin(request, response, expectsContinue, current(), traffic);
    else queue(request.socket, () => begin(request, response, expectsContinue, current(), traffic));
  };

  const server = createStrictServer(current().limits, requestsThat((request) => upgrades.wanted(request), (socket) => isOver(socket, current().limits)), security?.certificate ?? null, http2);
  server.on(security === null ? 'connection' : 'secureConnection', (socket: Socket | TLSSocket) => {
    if (!isHttp2(socket)) greet(keep(socket, sockets), traffic, current().limits);
  });
  if (onUnproxied !== null) expectProxyHeaders(server, current, onUnproxied);
  // Behind it: a connection counts from its first moment.
  server.on('connection', (socket: Socket) => keep(socket, accepted));
  onEveryRequest(server, onRequest);
  onEnd(server, upgrades, current);
  return {
    server,
    inFlight: () => traffic.active + traffic.waiting,
    waiting: () => traffic.waiting,
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

/** An exchange, from here to its end. */
function begin(request: IncomingMessage, response: ServerResponse, expectsContinue: boolean, gate: Gate, traffic: Traffic): void {
  const { socket } = request;
  const { limits, addresses } = gate;
  const connection = connectionOf(socket);
  traffic.active += 1;
  const end = afterBoth(() => {
    traffic.end(client);
    gate.finish(exchange, response.statusCode);
  });
  const client = new HttpClient(request, response, expectsContinue, traffic, limits, () => {
    end();
    proceed(socket);
  });
  connection.current = client;
  connection.served += 1;
  const exchange = open(headOf(request), client, addresses, limits, faultIn(request));
  client.caller = exchange.addressBucket;
  if (traffic.draining || connection.served >= limits.requestsPerConnection || ignoredUpgrade(request)) client.closeAfter();
  if (connection.broken !== null && connection.waiting.length === 0) client.breakOff(connection.broken);
  void travel(exchange, gate, traffic.active > limits.exchanges).then(end);
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

/** Those with an Expect too, which Node would answer by itself. */
function onEveryRequest(server: Server, take: (request: IncomingMessage, response: ServerResponse, expectsContinue: boolean) => void): void {
  server.on('request', (request, response) => take(request, response, false));
  server.on('checkContinue', (request: IncomingMessage, response: ServerResponse) => take(request, response, true));
  server.on('checkExpectation', (request: IncomingMessage, response: ServerResponse) => take(request, response, false));
}

/** What comes instead of a next request. */
function onEnd(server: Server, upgrades: Upgrades, current: () => Gate): void {
  server.on('upgrade', (request: IncomingMessage, socket: Socket, head: Buffer) => {
    if (isOver(socket, current().limits)) stopReading(socket, REFUSALS.overloaded, current());
    else upgrades.begin(request, socket, head);
  });
  server.on('clientError', (error: ParserError, socket: Socket) => onClientError(error, socket, current()));
  server.on('connect', (_request: IncomingMessage, socket: Socket) => stopReading(socket, REFUSALS.malformed_request, current()));
}

/** In `bag` as long as it is open. */
function keep(socket: Socket, bag: Bag<Socket>): Socket {
  const place = bag.add(socket);
  return socket.on('close', () => bag.remove(place));
}

/** Those end in their own way. */
function isHttp2(socket: Socket | TLSSocket): boolean {
  return 'alpnProtocol' in socket && socket.alpnProtocol === 'h2';
}

function createStrictServer(limits: EdgeLimits, requests: typeof IncomingMessage, certificate: Certificate | null, http2: Http2 | null): Server {
  const options = {
    IncomingMessage: requests,
    maxHeaderSize: limits.headerBytes,
    connectionsCheckingInterval: 1000,
    requireHostHeader: false,
    insecureHTTPParser: false,
    noDelay: true,
  };
  const server = certificate === null ? createServer(options) : createTlsServer(options, certificate, limits.headersMs, http2 === null ? null : (socket) => http2.take(socket));
  tune(server, limits);
  return server;
}

/** What may change while the server runs; only the header's size is fixed when it is made. */
function tune(server: Server, limits: EdgeLimits): void {
  server.headersTimeout = limits.headersMs;
  server.requestTimeout = limits.requestMs;
  server.keepAliveTimeout = limits.keepAliveMs;
  server.maxConnections = limits.connections;
  // One too many tells that there are too many (`faultIn`); the rest need not be kept.
  server.maxHeadersCount = limits.headerFields + 1;
}
