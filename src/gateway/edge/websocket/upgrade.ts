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
import { HandshakeClient } from './handshake-client.js';
import { asksForWebSocket, handshakeFault, MALFORMED_HANDSHAKE } from './handshake.js';

/** How often the holder of a tunnel is asked about: a revoked key keeps its tunnels at most this long. */
const RECHECK_MS = 5000;

/** Upgrades connections from HTTP, and has the tunnels of a listener. */
export class Upgrades {
  readonly #current: () => Handler;
  readonly #traffic: Traffic;
  /** Including open handshakes; each with a function that returns whether its client may keep it. */
  readonly #tunnels = new Map<HandshakeClient, () => Promise<boolean>>();
  #timer: NodeJS.Timeout | undefined;

  constructor(current: () => Handler, traffic: Traffic) {
    this.#current = current;
    this.#traffic = traffic;
  }

  /** Number of tunnels, including open handshakes. */
  get count(): number {
    return this.#tunnels.size;
  }

  /** Returns whether this begins a handshake; others are served as if they had no Upgrade (RFC 9110 §7.8). */
  wanted(request: IncomingMessage): boolean {
    const { current: ongoing, closing, broken } = connectionOf(request.socket);
    // After a request without a response yet, it is unknown whether this connection continues.
    if (ongoing !== null || closing || broken !== null || !asksForWebSocket(request)) return false;
    const path = parseTarget(request.url ?? '', 'GET')?.path;
    return path !== undefined && this.#current().allowsTunnel(path);
  }

  /** Runs a handshake through the pipeline. @param head bytes read after it */
  begin(request: IncomingMessage, socket: Socket, head: Buffer): void {
    const handler = this.#current();
    const { limits } = handler;
    const traffic = this.#traffic;
    const connection = connectionOf(socket);
    const client = new HandshakeClient(request, socket, traffic, limits, {
      onEarly: () => refuse(exchange, MALFORMED_HANDSHAKE, handler.errors),
      onOpen: (tunnel) => {
        traffic.end(client);
        exchange.logEntry.tunnel = tunnel;
      },
      onClosed: () => this.#tunnels.delete(client),
    });
    connection.current = client;
    connection.served += 1;
    const overloaded = traffic.draining || traffic.active >= limits.exchanges || this.count >= limits.tunnels;
    const fault = faultIn(request) ?? handshakeFault(request, head);
    const exchange = begin({ client, head: headOf(request), fault, overloaded }, handler, traffic);
    this.#tunnels.set(client, () => handler.mayKeepTunnel(exchange));
    this.#timer ??= setInterval(() => this.#recheck(), RECHECK_MS).unref();
  }

  /** Closes all open tunnels. */
  closeAll(by: TunnelClose): void {
    for (const { tunnel } of this.#tunnels.keys()) tunnel?.close(by);
  }

  #recheck(): void {
    for (const [{ tunnel }, mayKeepTunnel] of this.#tunnels)
      if (tunnel !== null) void mayKeepTunnel().then((stays) => stays || tunnel.close('key'));
  }
}
