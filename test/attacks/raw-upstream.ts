import { createServer, type Socket } from 'node:net';
import type { Test } from 'tap';
import { listen } from '../servers/listen.js';

/** An upstream that answers with whatever bytes a test likes. */
export interface RawUpstream {
  readonly url: string;
  /** Every request head that came, on whichever connection; bodies are cut off. */
  readonly heads: string[];
  /** Connections that are open. */
  readonly sockets: ReadonlySet<Socket>;
  /** Called for each request that is read; writes what it likes. */
  handle: (socket: Socket, head: string) => void;
}

export const OK = 'HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 2\r\n\r\n[]';

export async function startRawUpstream(t: Test): Promise<RawUpstream> {
  const handle: RawUpstream['handle'] = (socket) => void socket.write(OK);
  const upstream: RawUpstream = { url: '', heads: [], sockets: new Set(), handle };
  const server = createServer((socket) => {
    let text = '';
    let head: string | null = null;
    let bodyBytes = 0;
    socket.setEncoding('latin1').on('data', (chunk: string) => {
      text += chunk;
      for (;;) {
        if (head === null) {
          const end = text.indexOf('\r\n\r\n');
          if (end === -1) return;
          head = text.slice(0, end);
          bodyBytes = Number(/^content-length: (\d+)$/im.exec(head)?.[1] ?? 0);
          text = text.slice(end + 4);
        }
        // What comes of a body is not kept: to look at a long one again with each piece takes seconds.
        const came = Math.min(bodyBytes, text.length);
        bodyBytes -= came;
        text = text.slice(came);
        if (bodyBytes > 0) return;
        upstream.heads.push(head);
        upstream.handle(socket, head);
        head = null;
      }
    });
  });
  const { port, sockets } = await listen(t, server);
  return Object.assign(upstream, { url: `http://127.0.0.1:${port}`, sockets });
}
