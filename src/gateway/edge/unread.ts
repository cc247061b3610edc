import type { Client, Exchange } from '../exchange.js';
import type { Handler } from './handler.js';
import { open } from './open.js';

/** Stands for a client whose request could not be read; its answer goes to the socket itself. */
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

/** Stands for an exchange of which nothing was read, or kept. */
export function unreadExchange(
  remote: string | undefined,
  { addresses, limits }: Handler,
  version: string | null = null,
): Exchange {
  return open({ method: '', target: '', version, fields: [], remote, goesOn: false }, NOBODY, addresses, limits);
}
