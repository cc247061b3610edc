import type { EdgeLimits } from '../config/settings.js';
import { letGo } from '../exchange.js';
import type { Exchange } from '../exchange.js';
import { isRefusal, REFUSALS } from '../refusal.js';
import type { Refusal } from '../refusal.js';
import type { AddressReader } from './client-address.js';
import { refuse } from '../answer.js';
import type { Cors } from './cors.js';

/** What the listener opens an exchange by, and does with it. An exchange keeps its gate to the end, also when another takes over. */
export interface Gate {
  readonly limits: EdgeLimits;
  readonly addresses: AddressReader;
  /** null: answers say nothing of CORS. */
  readonly cors: Cors | null;
  /** All steps between `open` and `finish`; gives the refusal to render, if any. Never throws for a client's fault. */
  run(exchange: Exchange): Promise<object>;
  /** For what Node refused before a request could be read: sets the figures of the address. */
  showFigures(exchange: Exchange): Promise<void>;
  /** Whether the contract lets this path become a tunnel. */
  allowsTunnel(path: string): boolean;
  /** A tunnel is open: the client has its answer, and `finish` is far. */
  opened(exchange: Exchange): void;
  /** Whether who opened this tunnel may still have it. */
  mayStay(exchange: Exchange): Promise<boolean>;
  finish(exchange: Exchange, status: number): void;
  /** A fault of ours: logged, and the client gets a 500. */
  onBug(error: unknown, exchange: Exchange): void;
}

/** The client's side of an exchange, as far as it takes a place. */
export interface Placed {
  /** The bucket of its address. */
  caller: string;
  /** The exchange waits for its client. */
  waits: boolean;
  /** Of the body, bytes that are held. */
  bodyBytes: number;
}

interface Share {
  waiting: number;
  bodyBytes: number;
}

/**
 * What is under way on a listener. An exchange is worked on, or it waits for its client: for the rest of its
 * body, or until its answer is taken. Those have places of their own, of which one caller gets a part, so that
 * clients that let the gateway wait take nothing from others.
 */
export class Traffic {
  /** Exchanges that are worked on; an open tunnel is none. */
  active = 0;
  /** Exchanges that wait for their client. */
  waiting = 0;
  /** Requests that wait for the answer to the one before theirs on their connection. */
  pipelined = 0;
  draining = false;
  #bodyBytes = 0;
  /** Of callers that something waits for. */
  readonly #shares = new Map<string, Share>();

  /** The exchange waits for its client from now on; false when there is no place for it, and nothing changed. */
  wait(placed: Placed, limits: EdgeLimits): boolean {
    const share = this.#shares.get(placed.caller) ?? { waiting: 0, bodyBytes: 0 };
    if (this.waiting >= limits.waiting || share.waiting >= Math.max(1, limits.callerShare * limits.waiting)) return false;
    this.#shares.set(placed.caller, share);
    share.waiting += 1;
    placed.waits = true;
    this.waiting += 1;
    this.active -= 1;
    return true;
  }

  /** The client did its part; false when there are too many to work on by now. */
  proceed(placed: Placed, limits: EdgeLimits): boolean {
    if (!placed.waits) return true;
    this.#leave(placed);
    this.active += 1;
    return this.active <= limits.exchanges;
  }

  /** Bytes of a body came; false when they are too many to be held. */
  hold(placed: Placed, bytes: number, limits: EdgeLimits): boolean {
    const share = placed.waits ? this.#shares.get(placed.caller)! : null;
    // One whole body has room in any case.
    const most = Math.max(limits.bodiesBytes, limits.bodyBytes);
    if (this.#bodyBytes + bytes > most) return false;
    if (share !== null && share.bodyBytes + bytes > Math.max(limits.callerShare * most, limits.bodyBytes)) return false;
    if (share !== null) share.bodyBytes += bytes;
    placed.bodyBytes += bytes;
    this.#bodyBytes += bytes;
    return true;
  }

  end(placed: Placed): void {
    if (placed.waits) this.#leave(placed);
    else this.active -= 1;
    this.#bodyBytes -= placed.bodyBytes;
  }

  #leave(placed: Placed): void {
    const share = this.#shares.get(placed.caller)!;
    placed.waits = false;
    this.waiting -= 1;
    share.waiting -= 1;
    share.bodyBytes = Math.max(0, share.bodyBytes - placed.bodyBytes);
    if (share.waiting === 0) this.#shares.delete(placed.caller);
  }
}

/** Takes an exchange through the gate, and sees to it that its client is answered. */
export async function travel(exchange: Exchange, gate: Gate, overloaded: boolean): Promise<void> {
  if (gate.cors !== null) exchange.story.cors = gate.cors.fieldsFor(exchange.headers);
  try {
    const result = await (overloaded ? shed() : gate.run(exchange));
    if (isRefusal(result)) refuse(exchange, result);
  } catch (error) {
    gate.onBug(error, exchange);
    refuseOrCut(exchange);
  }
  // The answer may wait for its client for long.
  letGo(exchange);
}

/**
 * For what ends an exchange: `done` runs at the second call, when the client has its answer or is gone, and the request
 * has travelled. A client may leave while its request is decided (over HTTP/2 by the thousand, for a frame each), and
 * what was counted then must be told as counted.
 */
export function afterBoth(done: () => void): () => void {
  let left = 2;
  return () => {
    left -= 1;
    if (left === 0) done();
  };
}

/** Comes after all that was read in this turn: a request that is complete by then keeps its connection. */
function shed(): Promise<Refusal> {
  return new Promise((resolve) => setImmediate(() => resolve(REFUSALS.overloaded)));
}

/** After a fault of ours even the refusal may fail; one cut connection is better than a dead gateway. */
function refuseOrCut(exchange: Exchange): void {
  try {
    refuse(exchange, REFUSALS.internal_error);
  } catch {
    exchange.client.abort();
  }
}
