import type { Socket } from 'node:net';
import { onceATurn } from '../../../shared/turns/once-a-turn.js';
import type { Controller, OutgoingRequest, ResponseHandler } from './transport.js';
import { Connection, type Owner } from './connection.js';
import { dial, type Peer } from './dial.js';
import { UpstreamRequest } from './request.js';
import { fixedLines } from './request-head.js';
import type { ResponseLimits } from './response-head.js';

const SWEEP_MS = 500;

export interface PoolSettings extends Peer {
  readonly host: string;
  /** Prepended to each target: empty, or a path without a trailing slash. */
  readonly prefix: string;
  readonly connections: number;
  readonly connectMs: number;
  readonly idleMs: number;
  /** Default: `USUAL_LIMITS`. */
  readonly responseLimits?: ResponseLimits;
  /** How long a connection is used, plus up to 50 %. Default: one minute. */
  readonly lifetimeMs?: number;
}

/**
 * Keep-alive connections to one address, and the requests that wait for one: first come, first served. Connections are
 * assigned once per turn of the event loop, after sockets were read: unsolicited bytes on an idle connection are seen
 * before a request could take them for its response.
 */
export class Pool implements Owner {
  readonly fixedLines: string;
  readonly prefix: string;
  readonly #settings: PoolSettings;
  readonly #sockets = new Set<Socket>();
  /** A stack: the most recently used one is reused first, so that surplus ones expire. */
  readonly #idle: Connection[] = [];
  readonly #queue: UpstreamRequest[] = [];
  readonly #schedule = onceATurn(() => this.#handOut());
  readonly #unqueue = (request: UpstreamRequest): void => remove(this.#queue, request);
  #dialing = 0;
  #sweep: NodeJS.Timeout | null = null;
  #closing = false;
  #onClosed: (() => void) | null = null;

  constructor(settings: PoolSettings) {
    this.#settings = settings;
    this.fixedLines = fixedLines(settings.host);
    this.prefix = settings.prefix;
  }

  get stats(): { connected: number; queued: number } {
    return { connected: this.#sockets.size - this.#dialing, queued: this.#queue.length };
  }

  /** Never calls the handler before it returns. */
  dispatch(outgoing: OutgoingRequest, handler: ResponseHandler): Controller {
    const request = new UpstreamRequest(outgoing, handler, this.#unqueue);
    if (this.#closing) setImmediate(() => request.fail());
    else {
      this.#queue.push(request);
      this.#schedule();
    }
    return request;
  }

  close(): Promise<void> {
    this.#closing = true;
    for (const connection of this.#idle) connection.destroy();
    return new Promise((resolve) => {
      this.#onClosed = resolve;
      this.#schedule();
    });
  }

  destroy(): void {
    this.#closing = true;
    for (const socket of this.#sockets) socket.destroy();
    for (const request of this.#queue.splice(0)) request.fail();
  }

  onIdle(connection: Connection): void {
    this.#idle.push(connection);
    if (this.#queue.length > 0 || this.#closing) this.#schedule();
    this.#sweep ??= setInterval(() => this.#expire(), SWEEP_MS).unref();
  }

  /** Puts the request first in the queue: its connection had ended before anything was written. */
  onUnsent(request: UpstreamRequest): void {
    this.#queue.unshift(request);
    this.#schedule();
  }

  onGone(connection: Connection, socket: Socket): void {
    this.#sockets.delete(socket);
    remove(this.#idle, connection);
    this.#schedule();
  }

  #handOut(): void {
    const nowMs = performance.now();
    while (this.#queue.length > 0 && this.#idle.length > 0) {
      const connection = this.#idle.pop()!;
      if (connection.isOver) continue;
      if (connection.expiresMs <= nowMs) connection.destroy();
      else connection.send(this.#queue.shift()!);
    }
    while (this.#dialing < this.#queue.length && this.#sockets.size < this.#settings.connections) this.#dial();
    if (this.#closing && this.#queue.length === 0) this.#finish();
  }

  /** On failure, fails the request that has waited longest: otherwise all would wait for an address that is down. */
  #dial(): void {
    const { connectMs } = this.#settings;
    this.#dialing += 1;
    const socket = dial(
      this.#settings,
      connectMs,
      () => {
        this.#dialing -= 1;
        const connection = new Connection(socket, this, this.#settings);
        this.onIdle(connection);
        return connection;
      },
      (failure) => {
        this.#dialing -= 1;
        this.#sockets.delete(socket);
        this.#queue.shift()?.fail(failure);
        this.#schedule();
      },
    );
    this.#sockets.add(socket);
  }

  #expire(): void {
    const nowMs = performance.now();
    for (const connection of this.#idle) if (connection.expiresMs <= nowMs) connection.destroy();
    if (this.#sockets.size === 0) this.#stopSweep();
  }

  #finish(): void {
    for (const connection of this.#idle) connection.destroy();
    if (this.#sockets.size > 0) return;
    this.#stopSweep();
    this.#onClosed?.();
  }

  #stopSweep(): void {
    if (this.#sweep !== null) clearInterval(this.#sweep);
    this.#sweep = null;
  }
}

function remove<T>(items: T[], item: T): void {
  const index = items.indexOf(item);
  if (index !== -1) items.splice(index, 1);
}
