import { connect, type TLSSocket } from 'node:tls';
import type { Target } from './dial.js';
import type { Teardown } from './program.js';
import { until } from './until.js';

/** Frames of HTTP/2, byte by byte: for what no client would send (RFC 9113 §6). */
export const TYPE = {
  data: 0,
  headers: 1,
  priority: 2,
  reset: 3,
  settings: 4,
  push: 5,
  ping: 6,
  goaway: 7,
  window: 8,
  continuation: 9,
} as const;
export const FLAG = { endStream: 1, ack: 1, endHeaders: 4 } as const;
const PREFACE = 'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n';
const HEAD_BYTES = 9;

export interface Frame {
  readonly type: number;
  readonly flags: number;
  readonly stream: number;
  readonly payload: Buffer;
}

export function frame(type: number, flags: number, stream: number, payload: Buffer | string = ''): Buffer {
  const bytes = typeof payload === 'string' ? Buffer.from(payload, 'latin1') : payload;
  const head = Buffer.alloc(HEAD_BYTES);
  head.writeUIntBE(bytes.length, 0, 3);
  head.writeUInt8(type, 3);
  head.writeUInt8(flags, 4);
  head.writeUInt32BE(stream, 5);
  return Buffer.concat([head, bytes]);
}

export function uint32(value: number): Buffer {
  const bytes = Buffer.alloc(4);
  bytes.writeUInt32BE(value);
  return bytes;
}

export type Field = readonly [name: string, value: string];

/** A header block without compression: each field a literal with a name of its own (RFC 7541 §6.2.2). */
export function block(fields: readonly Field[]): Buffer {
  return Buffer.concat(fields.flatMap(([name, value]) => [Buffer.from([0]), literal(name), literal(value)]));
}

function literal(text: string): Buffer {
  const bytes = Buffer.from(text, 'latin1');
  return Buffer.concat([integer(bytes.length, 7), bytes]);
}

/** RFC 7541 §5.1. */
function integer(value: number, prefixBits: number): Buffer {
  const most = 2 ** prefixBits - 1;
  if (value < most) return Buffer.from([value]);
  const bytes = [most];
  let rest = value - most;
  for (; rest >= 128; rest = Math.floor(rest / 128)) bytes.push((rest % 128) + 128);
  bytes.push(rest);
  return Buffer.from(bytes);
}

/** HEADERS, whole in one frame. */
export function headers(stream: number, fields: readonly Field[], ends = true): Buffer {
  return frame(TYPE.headers, FLAG.endHeaders + (ends ? FLAG.endStream : 0), stream, block(fields));
}

/** What a good request begins with. */
export function pseudo(method = 'GET', path = '/v1/pets'): readonly Field[] {
  return [
    [':method', method],
    [':scheme', 'https'],
    [':authority', 'localhost'],
    [':path', path],
  ];
}

export interface FrameClient {
  readonly socket: TLSSocket;
  readonly frames: readonly Frame[];
  readonly closed: () => boolean;
  write(...frames: readonly Buffer[]): void;
  /**
   * How the gateway ended this stream: `reset <code>`, `answer <first byte of its header block>`, or the connection:
   * `goaway <code>`, `closed`.
   */
  endOf(stream: number): Promise<string>;
}

/** Shakes hands, sends preface and settings, and takes down every frame; answers none but SETTINGS. */
export async function openFrames(t: Teardown, target: Target, settings: Buffer | string = ''): Promise<FrameClient> {
  if (typeof target === 'number') throw new Error('HTTP/2 is for TLS');
  const socket = connect({ host: '127.0.0.1', servername: 'localhost', ALPNProtocols: ['h2'], ...target });
  t.teardown(() => socket.destroy());
  const frames: Frame[] = [];
  let closed = false;
  let rest: Buffer = Buffer.alloc(0);
  socket.on('error', () => undefined).on('close', () => (closed = true));
  socket.on('data', (chunk: Buffer) => {
    rest = Buffer.concat([rest, chunk]);
    while (rest.length >= HEAD_BYTES && rest.length >= HEAD_BYTES + rest.readUIntBE(0, 3)) {
      const end = HEAD_BYTES + rest.readUIntBE(0, 3);
      const received = {
        type: rest.readUInt8(3),
        flags: rest.readUInt8(4),
        stream: rest.readUInt32BE(5),
        payload: rest.subarray(HEAD_BYTES, end),
      };
      frames.push(received);
      if (received.type === TYPE.settings && received.flags === 0) socket.write(frame(TYPE.settings, FLAG.ack, 0));
      rest = rest.subarray(end);
    }
  });
  socket.write(Buffer.concat([Buffer.from(PREFACE), frame(TYPE.settings, 0, 0, settings)]));
  await until('the gateway told its settings', () => closed || frames.some(({ type }) => type === TYPE.settings));
  const endOf = async (stream: number): Promise<string> => {
    const find = (type: number, of: number): Frame | undefined =>
      frames.find((found) => found.type === type && found.stream === of);
    let end: string | null = null;
    await until(`stream ${stream} ended`, () => {
      const [reset, answer, goaway] = [find(TYPE.reset, stream), find(TYPE.headers, stream), find(TYPE.goaway, 0)];
      const whole = frames.some(
        (found) => found.stream === stream && found.type <= TYPE.headers && (found.flags & FLAG.endStream) !== 0,
      );
      if (answer !== undefined && whole) end = `answer ${answer.payload.readUInt8(0).toString(16)}`;
      else if (reset !== undefined) end = `reset ${reset.payload.readUInt32BE(0)}`;
      else if (goaway !== undefined) end = `goaway ${goaway.payload.readUInt32BE(4)}`;
      else if (closed) end = 'closed';
      return end !== null;
    });
    return end!;
  };
  return { socket, frames, closed: () => closed, write: (...all) => void socket.write(Buffer.concat(all)), endOf };
}
