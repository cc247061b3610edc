import type { ErrorForm } from '../answer.js';
import type { EdgeLimits } from '../config/schema/limits.js';
import type { Exchange } from '../exchange.js';
import type { AddressReader } from './client-address.js';
import type { Cors } from './cors.js';

/** What the listener needs from the gateway. An exchange keeps its handler to the end, across reloads. */
export interface Handler {
  readonly limits: EdgeLimits;
  readonly addresses: AddressReader;
  /** Null: no CORS fields. */
  readonly cors: Cors | null;
  readonly errors: ErrorForm;
  /** All steps between `open` and `finish`; returns the refusal, if any. Never throws because of a client. */
  run(exchange: Exchange): Promise<object>;
  /** For requests that Node refused unparsed: sets the verdict of the address, for the response headers. */
  readVerdict(exchange: Exchange): Promise<void>;
  allowsTunnel(path: string): boolean;
  /** A tunnel is open: the client has its response, and `finish` comes much later. */
  tunnelOpened(exchange: Exchange): void;
  mayKeepTunnel(exchange: Exchange): Promise<boolean>;
  finish(exchange: Exchange, status: number): void;
  /** An internal error: logged, and the client gets a 500. */
  onBug(error: unknown, exchange: Exchange): void;
}
