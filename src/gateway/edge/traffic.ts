import type { EdgeLimits } from '../config/settings.js';

/** The client's side of an exchange, as far as it takes a place. */
export interface InFlight {
  /** The bucket of its address. */
  caller: string;
  /** Worked on, or waiting for its client: for the rest of its body, or until its answer is taken. */
  state: 'active' | 'waiting' | 'ended';
  bodyBytes: number;
}

interface CallerShare {
  waiting: number;
  bodyBytes: number;
}

/**
 * What is under way on a listener. Exchanges that wait for their client have places of their own, of which one caller
 * gets a part: clients that let the gateway wait take nothing from others.
 */
export class Traffic {
  /** Exchanges that are worked on; an open tunnel is none. */
  active = 0;
  waiting = 0;
  /** Requests that wait for the answer to the one before theirs on their connection. */
  pipelined = 0;
  draining = false;
  #bodyBytes = 0;
  /** Of callers that something waits for. */
  readonly #shares = new Map<string, CallerShare>();

  begin(exchange: InFlight): void {
    exchange.state = 'active';
    this.active += 1;
  }

  /** The exchange waits for its client from now on; false when there is no place for it, and nothing changed. */
  wait(exchange: InFlight, limits: EdgeLimits): boolean {
    if (exchange.state !== 'active') return true;
    const share = this.#shares.get(exchange.caller) ?? { waiting: 0, bodyBytes: 0 };
    if (this.waiting >= limits.waiting || share.waiting >= Math.max(1, limits.callerShare * limits.waiting))
      return false;
    this.#shares.set(exchange.caller, share);
    share.waiting += 1;
    share.bodyBytes += exchange.bodyBytes;
    exchange.state = 'waiting';
    this.waiting += 1;
    this.active -= 1;
    return true;
  }

  /** Keeps room for a body; false when it is too large to be held beside the others. */
  hold(exchange: InFlight, bytes: number, limits: EdgeLimits): boolean {
    const share = exchange.state === 'waiting' ? this.#shares.get(exchange.caller)! : null;
    // One body has room in any case.
    if (this.#bodyBytes + bytes > Math.max(limits.bodiesBytes, bytes)) return false;
    if (share !== null && share.bodyBytes + bytes > Math.max(limits.callerShare * limits.bodiesBytes, bytes))
      return false;
    if (share !== null) share.bodyBytes += bytes;
    exchange.bodyBytes += bytes;
    this.#bodyBytes += bytes;
    return true;
  }

  /** The body came, or never will: what was reserved beyond its length is free. It is worked on, however many are. */
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

  /** The exchange ended, or became a tunnel. Calling it again changes nothing. */
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
