import type { EdgeLimits } from '../config/schema/limits.js';

/** The client's side of an exchange, as far as it occupies a slot. */
export interface InFlight {
  /** The bucket of its address. */
  caller: string;
  /** In progress, or waiting for its client: for the rest of its body, or until it takes the response. */
  state: 'active' | 'waiting' | 'ended';
  bodyBytes: number;
}

interface CallerShare {
  waiting: number;
  bodyBytes: number;
}

/**
 * Exchanges on a listener. Those that wait for their client have slots of their own, and each caller only a share:
 * slow clients take nothing from others.
 */
export class Traffic {
  /** Exchanges in progress; open tunnels do not count. */
  active = 0;
  waiting = 0;
  /** Pipelined requests that wait for the response before theirs. */
  pipelined = 0;
  draining = false;
  #bodyBytes = 0;
  /** Shares of the callers that exchanges wait for. */
  readonly #shares = new Map<string, CallerShare>();

  begin(exchange: InFlight): void {
    exchange.state = 'active';
    this.active += 1;
  }

  /** The exchange now waits for its client; returns false, unchanged, if no slot is free. */
  wait(exchange: InFlight, limits: EdgeLimits): boolean {
    if (exchange.state !== 'active') return true;
    const share = this.#shares.get(exchange.caller) ?? { waiting: 0, bodyBytes: 0 };
    if (this.waiting >= limits.waiting || share.waiting >= Math.max(1, limits.caller_share * limits.waiting))
      return false;
    this.#shares.set(exchange.caller, share);
    share.waiting += 1;
    share.bodyBytes += exchange.bodyBytes;
    exchange.state = 'waiting';
    this.waiting += 1;
    this.active -= 1;
    return true;
  }

  /** Reserves memory for a body; returns false if it does not fit next to the others. */
  hold(exchange: InFlight, bytes: number, limits: EdgeLimits): boolean {
    const share = exchange.state === 'waiting' ? this.#shares.get(exchange.caller)! : null;
    // A single body always fits.
    if (this.#bodyBytes + bytes > Math.max(limits.bodies_size, bytes)) return false;
    if (share !== null && share.bodyBytes + bytes > Math.max(limits.caller_share * limits.bodies_size, bytes))
      return false;
    if (share !== null) share.bodyBytes += bytes;
    exchange.bodyBytes += bytes;
    this.#bodyBytes += bytes;
    return true;
  }

  /** The body arrived, or never will: releases what it did not need. The exchange is in progress again. */
  resume(exchange: InFlight, bytes: number): void {
    if (exchange.state === 'ended') return;
    if (exchange.state === 'waiting') {
      this.#leave(exchange);
      exchange.state = 'active';
      this.active += 1;
    }
    this.#bodyBytes += bytes - exchange.bodyBytes;
    exchange.bodyBytes = bytes;
  }

  /** The exchange ended or became a tunnel. Idempotent. */
  end(exchange: InFlight): void {
    if (exchange.state === 'ended') return;
    if (exchange.state === 'waiting') this.#leave(exchange);
    else this.active -= 1;
    exchange.state = 'ended';
    this.#bodyBytes -= exchange.bodyBytes;
  }

  #leave(exchange: InFlight): void {
    const share = this.#shares.get(exchange.caller)!;
    this.waiting -= 1;
    share.waiting -= 1;
    share.bodyBytes -= exchange.bodyBytes;
    if (share.waiting === 0) this.#shares.delete(exchange.caller);
  }
}
