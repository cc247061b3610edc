import { createServer, type IncomingMessage, type RequestListener, type ServerResponse } from 'node:http';
import { createServer as createSecureServer, type ServerOptions } from 'node:https';
import { listen } from './listen.js';
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
  const { tls, host = '127.0.0.1', socketPath } = place;
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
  if (socketPath !== undefined) {
    await listen(t, server, { path: socketPath });
    return Object.assign(upstream, { url: `unix:${socketPath}` });
  }
  const { port } = await listen(t, server, { host, port: place.port ?? 0 });
  const scheme = tls === undefined ? 'http' : 'https';
  return Object.assign(upstream, { url: `${scheme}://${host.includes(':') ? `[${host}]` : host}:${port}` });
}
