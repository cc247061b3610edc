import { Server as TlsServer } from 'node:https';
import type { Socket } from 'node:net';
import type { TLSSocket } from 'node:tls';
import type { Certificate } from '../../config/certificate.js';
import { Crowd } from './crowd.js';
import type { Handler } from '../handler.js';
import { connectionOf, isServing, trackConnection } from '../http1/connection.js';
import { createHttp1Server, tune } from '../http1/server.js';
import { createHttp2 } from '../http2/server.js';
import { expectProxyHeaders, type ProxyRefusal } from '../proxy-protocol/listener.js';
import { handshakeRules } from '../tls.js';
import { Traffic } from '../traffic.js';
import { Upgrades } from '../websocket/upgrade.js';
import { Bag } from '../../../shared/bag.js';

export type Listener = ReturnType<typeof createListener>;

interface Security {
  readonly certificate: Certificate;
  readonly http2: boolean;
}

/**
 * The public server: HTTP/1.1 and WebSocket, and with TLS HTTP/2.
 * @param security null: no TLS, and therefore no HTTP/2
 * @param onUnproxied called for each connection closed without a valid PROXY header; null: none is expected
 */
export function createListener(
  current: () => Handler,
  security: Security | null,
  onUnproxied: ((why: ProxyRefusal) => void) | null,
) {
  const accepted = new Bag<Socket>();
  // Sockets that can send requests: with TLS, the ones after the handshake.
  const sockets = new Bag<Socket>();
  const traffic = new Traffic();
  const upgrades = new Upgrades(current, traffic);
  const http2 = security?.http2 === true ? createHttp2(current, traffic) : null;
  const server = createHttp1Server(
    current,
    traffic,
    upgrades,
    security?.certificate ?? null,
    http2 === null ? null : (socket) => http2.take(socket),
  );
  // With TLS, requests arrive on another socket, which wraps the accepted one.
  const secured = new WeakMap<Socket, Socket>();
  const crowd = new Crowd((socket) => {
    const served = secured.get(socket) ?? socket;
    return isServing(served) || http2?.isBusy(served) === true;
  });
  server.on(security === null ? 'connection' : 'secureConnection', (socket: Socket | TLSSocket) => {
    const { _parent: raw = null } = socket as { _parent?: Socket | null };
    if (raw !== null) secured.set(raw, socket);
    if (!isHttp2(socket)) trackConnection(keep(socket, sockets), traffic, current().limits);
  });
  if (onUnproxied !== null) expectProxyHeaders(server, current, onUnproxied);
  // After it: a connection counts from the start.
  server.on('connection', (socket: Socket) => {
    keep(socket, accepted);
    crowd.add(socket, current().limits.connections);
  });
  return {
    server,
    /** Exchanges in flight, including those that wait for their client. */
    inFlight: () => traffic.active + traffic.waiting,
    /** Exchanges that wait for their client: for the rest of its body, or until it takes the response. */
    waiting: () => traffic.waiting,
    tunnels: () => upgrades.count,
    /** Applies the current limits; with TLS, new connections get this certificate. */
    retune: (next: Certificate | null) => {
      tune(server, current().limits);
      http2?.retune();
      if (server instanceof TlsServer && next !== null) server.setSecureContext(handshakeRules(next));
    },
    /** From now on, every response ends its connection. */
    drain: () => {
      traffic.draining = true;
      http2?.drain();
      for (const socket of sockets.items()) endAfterCurrent(socket);
    },
    /** Ends all connections now. */
    destroy: () => {
      upgrades.closeAll('shutdown');
      for (const socket of accepted.items()) socket.destroy();
    },
  };
}

function endAfterCurrent(socket: Socket): void {
  const { current } = connectionOf(socket);
  if (current === null) socket.destroySoon();
  else current.closeAfter();
}

/** Keeps the socket in `bag` while it is open. */
function keep(socket: Socket, bag: Bag<Socket>): Socket {
  const entry = bag.add(socket);
  return socket.on('close', () => bag.remove(entry));
}

function isHttp2(socket: Socket | TLSSocket): boolean {
  return 'alpnProtocol' in socket && socket.alpnProtocol === 'h2';
}
