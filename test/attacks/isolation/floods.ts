import { connect } from 'node:net';
import type { Target } from '../../servers/dial.js';
import { block, FLAG, frame, headers, openFrames, pseudo, TYPE, uint32, type Field } from '../../servers/frames.js';
import { openHttp2 } from '../../servers/http2.js';

type Flood = (target: Target, key: string) => Promise<void>;

const NOBODY = { teardown: (): void => undefined };
const LANES = 4;

/** Frames on one connection after another, as many at once as there are lanes. */
function frames(make: (stream: number, fields: readonly Field[]) => readonly Buffer[]): Flood {
  return async (target, key) => {
    const fields: readonly Field[] = [...pseudo(), ['authorization', `Bearer ${key}`]];
    const lane = async (): Promise<never> => {
      for (;;) {
        const client = await openFrames(NOBODY, target).catch(() => null);
        for (let stream = 1; client !== null && !client.closed() && stream < 20_000; stream += 2) {
          client.write(...make(stream, fields));
          if (stream % 40 === 1) await new Promise((resolve) => setImmediate(resolve));
        }
        client?.socket.destroy();
      }
    };
    await Promise.all(Array.from({ length: LANES }, lane));
  };
}

/** Bytes to the port of TLS, and gone. */
function bytes(text: string): Flood {
  return (target) => {
    const { port } = target as { port: number };
    const open = (): void => {
      const socket = connect(port, '127.0.0.1', () => socket.write(text, 'latin1'));
      socket.setTimeout(500, () => socket.destroy());
      socket
        .on('error', () => undefined)
        .on('close', () => setImmediate(open))
        .resume();
    };
    for (let n = 0; n < LANES; n += 1) open();
    return Promise.resolve();
  };
}

const small = Array.from({ length: 1_000 }, (): Field => ['a', '']);
const large = Array.from({ length: 3 }, (): Field => ['x', 'x'.repeat(4_000)]);

/** Hostile things over TLS and HTTP/2. */
export const FLOODS: Readonly<Record<string, Flood>> = {
  'an ordinary client of HTTP/2': async (target, key) => {
    const client = openHttp2(NOBODY, target);
    const lane = async (): Promise<never> => {
      for (;;) await client.send({ key });
    };
    await Promise.all(Array.from({ length: 16 }, lane));
  },
  'streams that are reset': frames((stream, fields) => [
    headers(stream, fields),
    frame(TYPE.reset, 0, stream, uint32(8)),
  ]),
  'heads of 1,000 one-byte fields': frames((stream, fields) => [headers(stream, [...fields, ...small])]),
  'heads of 12 kB': frames((stream, fields) => [headers(stream, [...fields, ...large])]),
  'heads that never end': frames((stream, fields) => [
    frame(TYPE.headers, 0, stream, block(fields)),
    frame(TYPE.continuation, 0, stream, block(large)),
  ]),
  pings: frames(() => [frame(TYPE.ping, 0, 0, Buffer.alloc(8))]),
  settings: frames(() => [frame(TYPE.settings, 0, 0)]),
  'empty DATA frames': frames((stream, fields) =>
    stream === 1 ? [headers(1, fields, false)] : [frame(TYPE.data, 0, 1)],
  ),
  'priorities and no request': frames((stream) => [frame(TYPE.priority, 0, stream, Buffer.alloc(5))]),
  'streams whose END never comes': frames((stream, fields) => [headers(stream, fields, false)]),
  'plain HTTP to TLS': bytes('GET / HTTP/1.1\r\nHost: x\r\n\r\n'),
  'bytes that are no TLS': bytes('\u0016\u0003\u0001\u0002\u0000\u0001'),
  acknowledgments: frames(() => [frame(TYPE.settings, FLAG.ack, 0)]),
};
