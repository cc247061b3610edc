import type { EdgeLimits } from '../config/settings.js';
import { letGo } from '../exchange.js';
import type { Exchange } from '../exchange.js';
import { isRefusal, REFUSALS } from '../refusal.js';
import type { Refusal } from '../refusal.js';
import type { AddressReader } from './address.js';
import { refuse } from './answer.js';
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

/** What is under way on a listener. */
export interface Traffic {
  /** Exchanges begun and not ended; an open tunnel is none. */
  active: number;
  /** Requests that wait for the answer to the one before theirs on their connection. */
  pipelined: number;
  draining: boolean;
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
