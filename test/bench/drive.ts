import { connect } from 'node:net';
import type { Socket } from 'node:net';

export interface Drive {
  readonly port: number;
  /** Used in turn; null: no Authorization. */
  readonly keys: readonly (string | null)[];
  readonly requests: number;
  readonly connections: number;
}

const OK = 'HTTP/1.1 200 ';
const LENGTH = /\r\ncontent-length: *(\d+)/i;

/**
 * Sends `requests` GETs over keep-alive connections, one at a time on each. Writes and reads bytes
 * itself, so that it takes little of the machine from what is measured. Rejects at any answer but 200.
 */
export async function drive({ port, keys, requests, connections }: Drive): Promise<void> {
  const messages = keys.map((key) => requestOf(key));
  let sent = 0;
  const next = (): Buffer | null => (sent < requests ? messages[sent++ % messages.length]! : null);
  await Promise.all(Array.from({ length: connections }, () => driveOne(connect({ port, host: '127.0.0.1', noDelay: true }), next)));
}

function requestOf(key: string | null): Buffer {
  const authorization = key === null ? '' : `Authorization: Bearer ${key}\r\n`;
  return Buffer.from(`GET /v1/pets?limit=20 HTTP/1.1\r\nHost: petgate.example\r\nUser-Agent: bench\r\nAccept: application/json\r\n${authorization}\r\n`);
}

function driveOne(socket: Socket, next: () => Buffer | null): Promise<void> {
  return new Promise((resolve, reject) => {
    let received = '';
    const send = (): void => {
      const message = next();
      if (message === null) socket.end();
      else socket.write(message);
    };
    socket.setEncoding('latin1');
    socket.on('connect', send);
    socket.on('data', (text: string) => {
      received += text;
      const head = received.indexOf('\r\n\r\n');
      if (head === -1) return;
      const length = LENGTH.exec(received.slice(0, head))?.[1];
      if (!received.startsWith(OK) || length === undefined) socket.destroy(new Error(`not a 200 with a length: ${received.slice(0, 500)}`));
      if (received.length < head + 4 + Number(length)) return;
      received = '';
      send();
    });
    socket.on('error', reject);
    socket.on('close', () => resolve());
  });
}
