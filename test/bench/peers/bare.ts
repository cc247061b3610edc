import { readFileSync } from 'node:fs';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { createSecureServer, type Http2ServerRequest, type Http2ServerResponse } from 'node:http2';
import type { AddressInfo } from 'node:net';
import { Pool, type Dispatcher } from 'undici';

/**
 * What the gateway is measured against: the least a proxy of Node and undici has to do. Keep-alive
 * on both sides, hop-by-hop fields dropped both ways, the answer streamed with back-pressure, the
 * request cancelled when its client leaves. It knows nobody, limits nothing, counts and logs nothing.
 */
const { UPSTREAM_PORT = '', UPSTREAM_CA, TLS_CERT, TLS_KEY = '' } = process.env;
const pool = new Pool(`${UPSTREAM_CA === undefined ? 'http' : 'https'}://127.0.0.1:${UPSTREAM_PORT}`, {
  connections: 1024,
  pipelining: 1,
  ...(UPSTREAM_CA === undefined ? {} : { connect: { ca: readFileSync(UPSTREAM_CA) } }),
});
const HOP_BY_HOP = new Set([
  'connection',
  'host',
  'keep-alive',
  'proxy-authenticate',
  'proxy-authorization',
  'te',
  'trailer',
  'transfer-encoding',
  'upgrade',
]);

class Relay implements Dispatcher.DispatchHandler {
  readonly #response: ServerResponse | Http2ServerResponse;

  constructor(response: ServerResponse | Http2ServerResponse) {
    this.#response = response;
  }

  onRequestStart(controller: Dispatcher.DispatchController): void {
    if (this.#response.destroyed) controller.abort(new Error('client gone'));
    this.#response.on('close', () => {
      if (!this.#response.writableFinished) controller.abort(new Error('client gone'));
    });
  }

  onResponseStart(
    _controller: Dispatcher.DispatchController,
    status: number,
    headers: Record<string, string | string[] | undefined>,
  ): void {
    if (status < 200) return;
    const kept: string[] = [];
    for (const name of Object.keys(headers)) {
      if (HOP_BY_HOP.has(name)) continue;
      const value = headers[name];
      if (typeof value === 'string') kept.push(name, value);
      else for (const one of value ?? []) kept.push(name, one);
    }
    (this.#response as ServerResponse).writeHead(status, kept);
  }

  onResponseData(controller: Dispatcher.DispatchController, chunk: Buffer): void {
    if ((this.#response as ServerResponse).write(chunk)) return;
    controller.pause();
    this.#response.once('drain', () => controller.resume());
  }

  onResponseEnd(): void {
    this.#response.end();
  }

  onResponseError(): void {
    if (this.#response.headersSent) this.#response.destroy();
    else this.#response.writeHead(502).end();
  }
}

function relay(request: IncomingMessage | Http2ServerRequest, response: ServerResponse | Http2ServerResponse): void {
  const headers: string[] = [];
  for (let index = 0; index < request.rawHeaders.length; index += 2) {
    const name = request.rawHeaders[index]!;
    if (!HOP_BY_HOP.has(name.toLowerCase()) && !name.startsWith(':'))
      headers.push(name, request.rawHeaders[index + 1]!);
  }
  const hasBody = request.headers['content-length'] !== undefined || request.headers['transfer-encoding'] !== undefined;
  pool.dispatch(
    { path: request.url!, method: request.method as Dispatcher.HttpMethod, headers, body: hasBody ? request : null },
    new Relay(response),
  );
}

const server =
  TLS_CERT === undefined
    ? createServer({ keepAliveTimeout: 600_000 }, relay)
    : createSecureServer({ allowHTTP1: true, cert: readFileSync(TLS_CERT), key: readFileSync(TLS_KEY) }, relay);
server.listen(0, '127.0.0.1', 4096, () => process.send?.((server.address() as AddressInfo).port));
process.on('disconnect', () => process.exit());
