import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import type { TLSSocket } from 'node:tls';
import type { Certificate } from '../../config/certificate.js';
import type { EdgeLimits } from '../../config/schema/limits.js';
import { REFUSALS } from '../../refusal.js';
import { begin } from '../begin.js';
import type { Handler } from '../handler.js';
import { headOf } from '../open.js';
import { createTlsServer } from '../tls.js';
import type { Traffic } from '../traffic.js';
import { onClientError, stopReading, type ParserError } from './broken.js';
import { HttpClient } from './client.js';
import { connectionOf, faultIn, isFull, queue } from './connection.js';
import { requestsThat } from './request.js';

/** Takes the connections that leave HTTP/1. */
interface Leaving {
  wanted(request: IncomingMessage): boolean;
  begin(request: IncomingMessage, socket: Socket, head: Buffer): void;
}

/**
 * Creates an HTTP/1.1 server, with TLS if there is a certificate. Cases to which Node would respond by itself (parse
 * errors, no Host, an unknown Expect, CONNECT) are handled here: its responses lack rate headers and an Error body.
 * @param onHttp2 takes the connections that choose HTTP/2; null: it is not offered
 */
export function createHttp1Server(
  current: () => Handler,
  traffic: Traffic,
  leaving: Leaving,
  certificate: Certificate | null,
  onHttp2: ((socket: TLSSocket) => void) | null,
): Server {
  const { limits } = current();
  const options = {
    IncomingMessage: requestsThat(
      (request) => leaving.wanted(request),
      (socket) => isFull(socket, current().limits),
    ),
    maxHeaderSize: limits.header_size,
    connectionsCheckingInterval: 1000,
    requireHostHeader: false,
    insecureHTTPParser: false,
    noDelay: true,
  };
  const server =
    certificate === null ? createServer(options) : createTlsServer(options, certificate, limits.headers_time, onHttp2);
  Object.assign(server, { httpAllowHalfOpen: true });
  tune(server, limits);
  const onRequest =
    (expectsContinue: boolean) =>
    (request: IncomingMessage, response: ServerResponse): void => {
      const connection = connectionOf(request.socket);
      if (connection.closing) return;
      if (connection.current === null) beginRequest(request, response, expectsContinue, current(), traffic);
      else queue(request.socket, () => beginRequest(request, response, expectsContinue, current(), traffic));
    };
  server.on('request', onRequest(false)).on('checkContinue', onRequest(true));
  // Any other Expect, to which Node would respond by itself.
  server.on('checkExpectation', onRequest(false));
  onNoRequest(server, leaving, current);
  return server;
}

/** Applies limits that may change while the server runs; only the header size is fixed at creation. */
export function tune(server: Server, limits: EdgeLimits): void {
  server.headersTimeout = limits.headers_time;
  server.requestTimeout = limits.request_time;
  server.keepAliveTimeout = limits.keep_alive;
  server.maxConnections = limits.connections;
  // One too many is enough to refuse the request (`faultIn`); the rest need not be kept.
  server.maxHeadersCount = limits.header_fields + 1;
}

function beginRequest(
  request: IncomingMessage,
  response: ServerResponse,
  expectsContinue: boolean,
  handler: Handler,
  traffic: Traffic,
): void {
  const { limits } = handler;
  const connection = connectionOf(request.socket);
  const client = new HttpClient(request, response, expectsContinue, traffic, limits);
  connection.current = client;
  connection.served += 1;
  const isLast = connection.waiting.length === 0;
  if (traffic.draining || connection.served >= limits.requests_per_connection || (connection.halfClosed && isLast))
    client.closeAfter();
  if (connection.broken !== null && isLast) client.breakOff(connection.broken);
  begin(
    { client, head: headOf(request), fault: faultIn(request), overloaded: traffic.active >= limits.exchanges },
    handler,
    traffic,
  );
}

function onNoRequest(server: Server, leaving: Leaving, current: () => Handler): void {
  server.on('upgrade', (request: IncomingMessage, socket: Socket, head: Buffer) => {
    if (isFull(socket, current().limits)) stopReading(socket, REFUSALS.overloaded, current());
    else leaving.begin(request, socket, head);
  });
  server.on('clientError', (error: ParserError, socket: Socket) => onClientError(error, socket, current()));
  server.on('connect', (_request: IncomingMessage, socket: Socket) =>
    stopReading(socket, REFUSALS.malformed_request, current()),
  );
}
