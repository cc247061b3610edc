import type { IncomingMessage } from 'node:http';
import type { Socket } from 'node:net';
import type { TunnelClose } from '../../exchange.js';
import { refuse } from '../../answer.js';
import { connectionOf, faultIn, proceed } from '../http1/connection.js';
import { afterBoth, travel } from '../gate.js';
import type { Gate, Traffic } from '../gate.js';
import { HandshakeClient } from './client.js';
import { asksForWebSocket, handshakeFault, MALFORMED_HANDSHAKE } from './handshake.js';
import { headOf, open } from '../open.js';
import { parseTarget } from '../target.js';
import { createTunnels } from './tunnels.js';

/** How connections leave HTTP. */
export interface Upgrades {
  /** Whether this request begins a handshake here; every other one is served as if it had no Upgrade (RFC 9110 §7.8). */
  wanted(request: IncomingMessage): boolean;
  /** Takes a handshake through the gate. `head` is what was read behind it. */
  begin(request: IncomingMessage, socket: Socket, head: Buffer): void;
  /** Tunnels, handshakes under way included. */
  count(): number;
  closeAll(by: TunnelClose): void;
}

export function createUpgrades(current: () => Gate, traffic: Traffic): Upgrades {
  const tunnels = createTunnels();

  const begin: Upgrades['begin'] = (request, socket, head) => {
    const gate = current();
    const { limits, addresses } = gate;
    const connection = connectionOf(socket);
    traffic.active += 1;
    const end = afterBoth(() => {
      if (client.tunnel === null) traffic.end(client);
      gate.finish(exchange, client.status);
    });
    const client = new HandshakeClient(request, socket, traffic, limits, {
      onEarly: () => refuse(exchange, MALFORMED_HANDSHAKE),
      onOpen: (tunnel) => {
        traffic.active -= 1;
        exchange.story.tunnel = tunnel;
      },
      onClosed: () => {
        tunnels.delete(client);
        end();
        proceed(socket);
      },
    });
    connection.current = client;
    connection.served += 1;
    const exchange = open(headOf(request), client, addresses, limits, faultIn(request) ?? handshakeFault(request, head));
    client.caller = exchange.addressBucket;
    tunnels.add(client, () => gate.mayStay(exchange));
    const overloaded = traffic.draining || traffic.active > limits.exchanges || tunnels.size() > limits.tunnels;
    void travel(exchange, gate, overloaded).then(() => {
      if (client.tunnel !== null) gate.opened(exchange);
      end();
    });
  };

  const wanted: Upgrades['wanted'] = (request) => {
    const { current: ongoing, closing, broken } = connectionOf(request.socket);
    // Behind a request that is not answered yet nobody knows whether this connection goes on.
    if (ongoing !== null || closing || broken !== null || !asksForWebSocket(request)) return false;
    const path = parseTarget(request.url ?? '', 'GET')?.path;
    return path !== undefined && current().allowsTunnel(path);
  };

  return { wanted, begin, count: () => tunnels.size(), closeAll: (by) => tunnels.closeAll(by) };
}
