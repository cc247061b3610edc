import { newLogEntry } from '../../src/gateway/edge/open.js';
import type { Client, Exchange } from '../../src/gateway/exchange.js';

/** What was written to the client of an exchange made here. */
interface Written {
  status: number;
  headers: readonly string[];
  body: string;
  aborted: boolean;
}

/** An exchange as `open` would make it, over a client that keeps what it is sent. */
export function makeExchange(fields: Partial<Exchange> = {}): { exchange: Exchange; written: Written } {
  const written: Written = { status: 0, headers: [], body: '', aborted: false };
  const client: Client = {
    gone: false,
    started: false,
    bytesOut: 0,
    peerAddress: '192.0.2.1',
    isEncrypted: false,
    onGone: () => undefined,
    reserveBody: () => null,
    readBody: () => Promise.resolve('gone'),
    send: (status, headers, body) => void Object.assign(written, { status, headers, body: String(body) }),
    start: () => undefined,
    write: () => true,
    onDrain: () => undefined,
    end: () => undefined,
    abort: () => (written.aborted = true),
  };
  const exchange: Exchange = {
    id: 'id',
    traceparent: '00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-00',
    traceContinued: false,
    version: '1.1',
    method: 'GET',
    path: '/v1/pets',
    query: '',
    headers: [],
    received: fields.headers ?? [],
    host: 'pets.example',
    scheme: 'http',
    publicHost: 'pets.example',
    authorization: null,
    clientAuthorization: null,
    hasBody: false,
    contentLength: null,
    address: '192.0.2.1',
    addressBucket: '192.0.2.1',
    startedMs: performance.now(),
    fault: null,
    client,
    logEntry: newLogEntry(),
    ...fields,
  };
  return { exchange, written };
}
