import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
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

/** An upstream that a test scripts; a real server on a free port, closed with the test. */
export async function startUpstream(t: Teardown): Promise<Upstream> {
  const sockets = new Set<Socket>();
  const upstream: Upstream = {
    url: '',
    seen: [],
    handle: (_seen, response) => response.writeHead(200, { 'content-type': 'application/json' }).end('[]'),
  };
  const server = createServer({ keepAliveTimeout: 60_000 }, (request, response) => {
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
  });
  server.on('connection', (socket: Socket) => {
    sockets.add(socket);
    socket.on('error', () => undefined).on('close', () => sockets.delete(socket));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  t.teardown(() => {
    for (const socket of sockets) socket.destroy();
    return new Promise<void>((resolve) => server.close(() => resolve()));
  });
  return Object.assign(upstream, { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}` });
}
