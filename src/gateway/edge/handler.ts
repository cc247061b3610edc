import type { ErrorForm } from '../answer.js';
import type { EdgeLimits } from '../config/settings.js';
import type { Exchange } from '../exchange.js';
import type { AddressReader } from './client-address.js';
import type { Cors } from './cors.js';

/** What the listener needs of the gateway. An exchange keeps its handler to the end, whatever a reload brings. */
export interface Handler {
  readonly limits: EdgeLimits;
  readonly addresses: AddressReader;
  /** null: answers say nothing of CORS. */
  readonly cors: Cors | null;
  readonly errors: ErrorForm;
  /** All steps between `open` and `finish`; gives the refusal to render, if any. Never throws for a client's fault. */
  run(exchange: Exchange): Promise<object>;
  /** For what Node refused unread: sets the verdict on the address, whose figures the answer shows. */
  readVerdict(exchange: Exchange): Promise<void>;
  allowsTunnel(path: string): boolean;
  /** A tunnel is open: the client has its answer, and `finish` is far. */
  tunnelOpened(exchange: Exchange): void;
  mayKeepTunnel(exchange: Exchange): Promise<boolean>;
  finish(exchange: Exchange, status: number): void;
  /** A fault of ours: logged, and the client gets a 500. */
  onBug(error: unknown, exchange: Exchange): void;
}
