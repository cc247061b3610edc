import type { Client, Exchange } from '../exchange.js';
import { bucketOf } from './client-address.js';
import type { AddressReader } from './client-address.js';
import { newLogEntry } from './open.js';
import { nextTraceparent, requestIdOf } from './trace.js';

/** Stands for a client whose request could not be read; its answer goes to the socket itself. */
const NOBODY: Client = {
  gone: false,
  started: true,
  bytesOut: 0,
  onGone: () => undefined,
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
  addresses: AddressReader,
  version: string | null = null,
): Exchange {
  const address = addresses.read(remote, null);
  const { traceparent, continued } = nextTraceparent(null);
  return {
    id: requestIdOf(null),
    traceparent,
    traceContinued: continued,
    version,
    method: '',
    path: '',
    query: '',
    headers: [],
    authorization: null,
    hasBody: false,
    contentLength: null,
    address,
    addressBucket: bucketOf(address),
    startedMs: performance.now(),
    fault: null,
    client: NOBODY,
    logEntry: newLogEntry(),
  };
}
