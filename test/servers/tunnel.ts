import type { Socket } from 'node:net';
import { dial, type Target } from './dial.js';
import type { Teardown } from './program.js';
import { parseAnswers, type RawAnswer } from './raw.js';
import { until } from './until.js';

/** The key that RFC 6455 uses as an example. */
export const KEY = 'dGhlIHNhbXBsZSBub25jZQ==';

/** A client of a WebSocket, byte by byte. */
export interface TunnelClient {
  readonly socket: Socket;
  /** The answer's head (and body, when it is no 101). */
  readonly answer: RawAnswer;
  /** All that came after a 101. */
  readonly received: () => Buffer;
  /** Whether the connection is closed, both ways. */
  readonly closed: () => boolean;
}

/** The head of a handshake; fields beside those it must have. */
export function handshake(path: string, ...fields: readonly string[]): string {
  return [
    `GET ${path} HTTP/1.1`,
    'Host: pets.example',
    'Connection: Upgrade',
    'Upgrade: websocket',
    `Sec-WebSocket-Key: ${KEY}`,
    'Sec-WebSocket-Version: 13',
    ...fields,
    '',
    '',
  ].join('\r\n');
}

/** Sends a handshake and gives what it came to. */
export async function openTunnel(t: Teardown, target: Target, bytes: string): Promise<TunnelClient> {
  const socket = dial(target);
  t.teardown(() => socket.destroy());
  const chunks: Buffer[] = [];
  const all = (): Buffer => {
    if (chunks.length !== 1) chunks.splice(0, chunks.length, Buffer.concat(chunks));
    return chunks[0]!;
  };
  let closed = false;
  socket.on('error', () => undefined).on('close', () => (closed = true));
  socket.on('data', (chunk: Buffer) => chunks.push(chunk));
  socket.write(Buffer.from(bytes, 'latin1'));
  let answer: RawAnswer | undefined;
  await until('the handshake is answered', () => {
    const text = all().toString('latin1');
    const isSwitch = text.startsWith('HTTP/1.1 101 ');
    // Read as a 204: an answer that has no body and is the last.
    [answer] = parseAnswers(isSwitch ? text.slice(0, text.indexOf('\r\n\r\n') + 4).replace(' 101 ', ' 204 ') : text);
    if (answer !== undefined && isSwitch) answer = { ...answer, status: 101 };
    if (answer === undefined && closed) throw new Error(`closed without an answer: ${text}`);
    return answer !== undefined;
  });
  const headBytes = answer!.status === 101 ? all().indexOf('\r\n\r\n') + 4 : 0;
  return { socket, answer: answer!, received: () => all().subarray(headBytes), closed: () => closed };
}
