import type { Client, Exchange } from '../exchange.js';
import type { Refusal } from '../refusal.js';
import type { Handler } from './handler.js';
import { open } from './open.js';

/** A client whose request could not be parsed; the response is written to the socket directly. */
const NOBODY: Client = {
  gone: false,
  started: true,
  bytesOut: 0,
  peerAddress: undefined,
  isEncrypted: false,
  onGone: () => undefined,
  reserveBody: () => null,
  readBody: () => Promise.resolve('gone'),
  send: () => undefined,
  start: () => undefined,
  write: () => true,
  onDrain: () => undefined,
  end: () => undefined,
  abort: () => undefined,
};

/** Reports a request over HTTP/2 that was refused unread, and gets no response. */
export function finishUnread(remote: string | undefined, refusal: Refusal, handler: Handler): void {
  const exchange = unreadExchange(remote, handler, '2');
  exchange.logEntry.refusal = refusal;
  handler.finish(exchange, refusal.status);
}

/** An exchange of which nothing was parsed or kept. */
export function unreadExchange(
  remote: string | undefined,
  { addresses, limits }: Handler,
  version: string | null = null,
): Exchange {
  return open({ method: '', target: '', version, fields: [], remote, endsLater: false }, NOBODY, addresses, limits);
}
