import type { IncomingMessage } from 'node:http';
import type { Socket } from 'node:net';
import { refuse } from '../../answer.js';
import type { TunnelClose } from '../../exchange.js';
import { begin } from '../begin.js';
import type { Handler } from '../handler.js';
import { connectionOf, faultIn } from '../http1/connection.js';
import { headOf } from '../open.js';
import { parseTarget } from '../target.js';
import type { Traffic } from '../traffic.js';
import { HandshakeClient } from './client.js';
import { asksForWebSocket, handshakeFault, MALFORMED_HANDSHAKE } from './handshake.js';
import { createTunnels } from './tunnels.js';

/** How connections leave HTTP. */
export interface Upgrades {
  /** Whether this begins a handshake here; every other request is served as if it had no Upgrade (RFC 9110 §7.8). */
  wanted(request: IncomingMessage): boolean;
  /** Takes a handshake through the pipeline. `head` is what was read behind it. */
  begin(request: IncomingMessage, socket: Socket, head: Buffer): void;
  /** Tunnels, handshakes under way included. */
  count(): number;
  closeAll(by: TunnelClose): void;
}

export function createUpgrades(current: () => Handler, traffic: Traffic): Upgrades {
  const tunnels = createTunnels();

  const beginHandshake: Upgrades['begin'] = (request, socket, head) => {
    const handler = current();
    const { limits } = handler;
    const connection = connectionOf(socket);
    const client = new HandshakeClient(request, socket, traffic, limits, {
      onEarly: () => refuse(exchange, MALFORMED_HANDSHAKE),
      onOpen: (tunnel) => {
        traffic.end(client);
        exchange.logEntry.tunnel = tunnel;
      },
      onClosed: () => tunnels.delete(client),
    });
    connection.current = client;
    connection.served += 1;
    const overloaded = traffic.draining || traffic.active >= limits.exchanges || tunnels.size() >= limits.tunnels;
    const fault = faultIn(request) ?? handshakeFault(request, head);
    const exchange = begin({ client, head: headOf(request), fault, overloaded }, handler, traffic);
    tunnels.add(client, () => handler.mayKeepTunnel(exchange));
  };

  const wanted: Upgrades['wanted'] = (request) => {
    const { current: ongoing, closing, broken } = connectionOf(request.socket);
    // Behind a request that is not answered yet nobody knows whether this connection goes on.
    if (ongoing !== null || closing || broken !== null || !asksForWebSocket(request)) return false;
    const path = parseTarget(request.url ?? '', 'GET')?.path;
    return path !== undefined && current().allowsTunnel(path);
  };

  return { wanted, begin: beginHandshake, count: () => tunnels.size(), closeAll: (by) => tunnels.closeAll(by) };
}
