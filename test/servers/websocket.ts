import { createHash } from 'node:crypto';
import { createServer, type IncomingMessage, type RequestListener } from 'node:http';
import { createServer as createSecureServer, type ServerOptions } from 'node:https';
import type { Socket } from 'node:net';
import { listen } from './listen.js';
import type { Teardown } from './program.js';

/** A handshake as the upstream saw it, with the connection it came on. */
export interface SeenHandshake {
  readonly url: string;
  readonly headers: IncomingMessage['headers'];
  readonly rawHeaders: readonly string[];
  readonly socket: Socket;
}

/** A real WebSocket service: it echoes every message, until a test tells it to do otherwise. */
export interface WebSocketUpstream {
  readonly url: string;
  readonly seen: SeenHandshake[];
  /** Requests that asked for no WebSocket, as `METHOD target`. */
  readonly plain: string[];
  /** Connections that are open. */
  readonly sockets: ReadonlySet<Socket>;
  /** Answers a handshake; by default 101 and then an echo. */
  handle: (seen: SeenHandshake, head: Buffer) => void;
}

/**
 * @param socketPath where it listens instead of a free port
 * @param tls it speaks TLS
 */
export async function startWebSocketUpstream(
  t: Teardown,
  socketPath?: string,
  tls?: ServerOptions,
): Promise<WebSocketUpstream> {
  const upstream: WebSocketUpstream = {
    url: '',
    seen: [],
    plain: [],
    sockets: new Set(),
    handle: (seen, head) => echo(seen, head),
  };
  const answer: RequestListener = (request, response) => {
    upstream.plain.push(`${request.method ?? ''} ${request.url ?? ''}`);
    request.resume();
    response
      .writeHead(426, { 'content-type': 'application/json' })
      .end('{"code":"upgrade_required","message":"Ask for a WebSocket here.","status":426}');
  };
  const server = tls === undefined ? createServer(answer) : createSecureServer(tls, answer);
  server.on('upgrade', (request: IncomingMessage, socket: Socket, head: Buffer) => {
    const seen = { url: request.url ?? '', headers: request.headers, rawHeaders: request.rawHeaders, socket };
    upstream.seen.push(seen);
    upstream.handle(seen, head);
    // Read on whatever happens, as any service does: else the other side's end would never be seen.
    socket.on('end', () => socket.end());
    if (socket.listenerCount('data') === 0) socket.resume();
  });
  const { port, sockets } = await listen(t, server, socketPath === undefined ? {} : { path: socketPath });
  const scheme = tls === undefined ? 'http' : 'https';
  const url = socketPath === undefined ? `${scheme}://127.0.0.1:${port}` : `unix:${socketPath}`;
  return Object.assign(upstream, { url, sockets });
}

/** The only right Sec-WebSocket-Accept (RFC 6455 §4.2.2). */
export function acceptOf(key: string): string {
  return createHash('sha1').update(`${key}258EAFA5-E914-47DA-95CA-C5AB0DC85B11`).digest('base64');
}

/** Answers 101, with these fields beside those it must have. */
export function accept({ headers, socket }: SeenHandshake, ...fields: readonly string[]): void {
  const key = headers['sec-websocket-key'] ?? '';
  socket.write(
    [
      'HTTP/1.1 101 Switching Protocols',
      'Connection: Upgrade',
      'Upgrade: websocket',
      `Sec-WebSocket-Accept: ${acceptOf(key)}`,
      ...fields,
      '',
      '',
    ].join('\r\n'),
  );
}

function echo(seen: SeenHandshake, head: Buffer): void {
  const { socket, headers } = seen;
  const protocol = headers['sec-websocket-protocol'];
  accept(seen, ...(protocol === undefined ? [] : [`Sec-WebSocket-Protocol: ${protocol}`]));
  let rest = head;
  socket.on('data', (chunk: Buffer) => {
    rest = Buffer.concat([rest, chunk]);
    for (let frame = readFrame(rest); frame !== null; frame = readFrame(rest)) {
      rest = rest.subarray(frame.length);
      socket.write(frameOf(frame.opcode, frame.payload));
      if (frame.opcode === CLOSE) socket.end();
    }
  });
}

const CLOSE = 8;

/** A frame of the service's side: whole, not masked (RFC 6455 §5.2). */
export function frameOf(opcode: number, payload: Buffer): Buffer {
  const length = payload.length;
  const head =
    length < 126 ? Buffer.from([0x80 | opcode, length]) : Buffer.from([0x80 | opcode, 126, length >> 8, length & 0xff]);
  return Buffer.concat([head, payload]);
}

/** The first whole frame of `bytes`, unmasked. Longer ones than 64 KiB come in no test. */
function readFrame(bytes: Buffer): { opcode: number; payload: Buffer; length: number } | null {
  if (bytes.length < 6) return null;
  const short = bytes[1]! & 0x7f;
  const at = short === 126 ? 4 : 2;
  if (bytes.length < at + 4) return null;
  const size = short === 126 ? bytes.readUInt16BE(2) : short;
  const length = at + 4 + size;
  if (bytes.length < length) return null;
  const payload = Buffer.from(bytes.subarray(at + 4, length));
  payload.forEach((byte, index) => (payload[index] = byte ^ bytes[at + (index % 4)]!));
  return { opcode: bytes[0]! & 0x0f, payload, length };
}
