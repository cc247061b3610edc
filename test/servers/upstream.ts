import { createServer, type IncomingMessage, type RequestListener, type ServerResponse } from 'node:http';
import { createServer as createSecureServer, type ServerOptions } from 'node:https';
import type { AddressInfo, Socket } from 'node:net';
import type { Teardown } from './program.js';

/** One request as the upstream saw it. */
export interface Seen {
  readonly method: string;
  readonly url: string;
  readonly headers: IncomingMessage['headers'];
  readonly rawHeaders: readonly string[];
  readonly body: string;
}

export interface Upstream {
  readonly url: string;
  /** Every request that reached it, in order. */
  readonly seen: Seen[];
  /** What it does from now on; by default 200 `[]`. */
  handle: (seen: Seen, response: ServerResponse) => void;
}

interface Place {
  /** It speaks TLS. */
  readonly tls?: ServerOptions;
  /** 127.0.0.1 when left out. */
  readonly host?: string;
  /** Any free one when left out. */
  readonly port?: number;
  /** Where it listens instead. */
  readonly socketPath?: string;
}

/** An upstream that a test scripts; a real server on a free port, closed with the test. */
export async function startUpstream(t: Teardown, place: Place = {}): Promise<Upstream> {
  const { tls, host = '127.0.0.1', port = 0, socketPath } = place;
  const sockets = new Set<Socket>();
  const upstream: Upstream = {
    url: '',
    seen: [],
    handle: (_seen, response) => response.writeHead(200, { 'content-type': 'application/json' }).end('[]'),
  };
  const answer: RequestListener = (request, response) => {
    let body = '';
    request.setEncoding('latin1').on('data', (text: string) => (body += text));
    request.on('end', () => {
      const seen = {
        method: request.method ?? '',
        url: request.url ?? '',
        headers: request.headers,
        rawHeaders: request.rawHeaders,
        body,
      };
      upstream.seen.push(seen);
      upstream.handle(seen, response);
    });
  };
  const server =
    tls === undefined
      ? createServer({ keepAliveTimeout: 60_000 }, answer)
      : createSecureServer({ keepAliveTimeout: 60_000, ...tls }, answer);
  server.on('connection', (socket: Socket) => {
    sockets.add(socket);
    socket.on('error', () => undefined).on('close', () => sockets.delete(socket));
  });
  await new Promise<void>((resolve) =>
    socketPath === undefined ? server.listen(port, host, resolve) : server.listen(socketPath, resolve),
  );
  t.teardown(() => {
    for (const socket of sockets) socket.destroy();
    return new Promise<void>((resolve) => server.close(() => resolve()));
  });
  return Object.assign(upstream, { url: urlOf(place, server.address()) });
}

function urlOf({ tls, host = '127.0.0.1', socketPath }: Place, address: AddressInfo | string | null): string {
  if (socketPath !== undefined) return `unix:${socketPath}`;
  const { port } = address as AddressInfo;
  return `${tls === undefined ? 'http' : 'https'}://${host.includes(':') ? `[${host}]` : host}:${port}`;
}
