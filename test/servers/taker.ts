import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { createServer as createSecureServer, type ServerOptions } from 'node:https';
import { listen } from './listen.js';
import type { Teardown } from './program.js';

/** A request at the upstream, from its head on. */
export interface Taken {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  /** Of its body so far. */
  bytes: number;
  /** It came to its end; or it broke off. */
  ended: boolean;
  broken: boolean;
}

export interface Taker {
  readonly url: string;
  readonly taken: Taken[];
  /** Connections that were ever made to it. */
  readonly connections: () => number;
  /** At the head of a request; by default its body is read, and at the end answered with its length. */
  begin: (taken: Taken) => void;
}

/** Reads all of a body, and answers its length. */
export function readAll({ request, response }: Taken): void {
  request.resume();
  request.on('end', () => response.setHeader('content-type', 'application/json').end('[]'));
}

/** An upstream that sees bodies while they come. */
export async function startTaker(t: Teardown, tls?: ServerOptions): Promise<Taker> {
  let connections = 0;
  const taker: Taker = { url: '', taken: [], connections: () => connections, begin: readAll };
  const take = (request: IncomingMessage, response: ServerResponse): void => {
    const taken: Taken = { request, response, bytes: 0, ended: false, broken: false };
    taker.taken.push(taken);
    request.on('data', (piece: Buffer) => (taken.bytes += piece.length)).pause();
    request.on('end', () => (taken.ended = true)).on('error', () => undefined);
    request.on('close', () => (taken.broken = !taken.ended));
    taker.begin(taken);
  };
  const server = tls === undefined ? createServer(take) : createSecureServer(tls, take);
  server.keepAliveTimeout = 60_000;
  server.on(tls === undefined ? 'connection' : 'secureConnection', () => {
    connections += 1;
  });
  const { port } = await listen(t, server);
  return Object.assign(taker, { url: `${tls === undefined ? 'http' : 'https'}://127.0.0.1:${port}` });
}
