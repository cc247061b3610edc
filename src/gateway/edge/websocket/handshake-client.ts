import { ServerResponse, type IncomingMessage } from 'node:http';
import type { Socket } from 'node:net';
import type { Handshake, ClientEnd } from '../../exchange.js';
import type { EdgeLimits } from '../../config/schema/limits.js';
import { HttpClient } from '../http1/client.js';
import { onlyValueOf } from '../fields.js';
import type { Traffic } from '../traffic.js';
import { TunnelEnd } from './tunnel.js';

interface HandshakeEvents {
  /** The client sent something before its response. */
  onEarly(): void;
  onOpen(tunnel: TunnelEnd): void;
  /** Called once: the response or the tunnel has ended, or the client has left. */
  onClosed(): void;
}

/**
 * The client's side of a handshake. It gets a response like any other request, after which the connection ends; or it
 * is opened, and no longer HTTP. Node has given up the socket, so this does everything for the response.
 */
export class HandshakeClient extends HttpClient implements Handshake {
  readonly handshake = this;
  readonly key: string;
  tunnel: TunnelEnd | null = null;
  readonly #socket: Socket;
  readonly #response: ServerResponse;
  readonly #events: HandshakeEvents;
  readonly #early = (): void => this.#onEarly();
  readonly #left = (): void => void this.#socket.destroy();

  constructor(request: IncomingMessage, socket: Socket, traffic: Traffic, limits: EdgeLimits, events: HandshakeEvents) {
    const response = answerOn(request, socket);
    super(request, response, false, traffic, limits);
    this.key = onlyValueOf(request.rawHeaders, 'sec-websocket-key') ?? '';
    this.#socket = socket;
    this.#response = response;
    this.#events = events;
    socket.on('error', this.#left).on('timeout', this.#left).on('end', this.#left).on('data', this.#early);
  }

  override get started(): boolean {
    return this.tunnel !== null || super.started;
  }

  override get status(): number {
    return this.tunnel !== null ? 101 : super.status;
  }

  protected override closed(): void {
    this.#events.onClosed();
    super.closed();
  }

  createEnd(): ClientEnd {
    return new TunnelEnd(this.#socket, this.limits, (end) => this.#open(end));
  }

  #open(end: TunnelEnd): void {
    const socket = this.#socket;
    this.tunnel = end;
    this.#response.detachSocket(socket);
    socket.off('data', this.#early).off('end', this.#left).off('timeout', this.#left);
    socket.on('close', () => {
      this.bytesOut = end.bytesOut;
      this.closed();
    });
    this.#events.onOpen(end);
  }

  /** Bytes before the response do not belong to a tunnel (RFC 6455 §4.1), and must not be guessed at. */
  #onEarly(): void {
    this.#socket.off('data', this.#early);
    if (!this.started && !this.gone) this.#events.onEarly();
    this.leave();
  }
}

/** A response as Node writes one to a plain request, on a socket that Node no longer owns. */
function answerOn(request: IncomingMessage, socket: Socket): ServerResponse {
  const response = new ServerResponse(request);
  response.shouldKeepAlive = false;
  response.assignSocket(socket);
  socket.on('drain', () => response.emit('drain'));
  response.once('finish', () => {
    response.detachSocket(socket);
    socket.destroySoon();
    response.emit('close');
  });
  return response;
}
