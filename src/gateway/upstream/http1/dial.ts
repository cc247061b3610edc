import { connect, type Socket } from 'node:net';
import { SHARED } from './read-buffer.js';

/** Where an upstream listens: `host` is a name or an address. */
export type Target = { readonly host: string; readonly port: number } | { readonly path: string };

const KEEP_ALIVE_MS = 60_000;

export interface SocketReader {
  /** The buffer that the next bytes are read into. */
  nextBuffer(): Buffer;
  /** @param bytes valid until the next read */
  onBytes(bytes: Buffer): void;
}

/** Opens a connection: `onOpen` gives its reader; `onFailed` when there is none within `connectMs`. */
export function dial(
  target: Target,
  connectMs: number,
  onOpen: (socket: Socket) => SocketReader,
  onFailed: () => void,
): Socket {
  let reader: SocketReader | null = null;
  const socket = connect({
    ...target,
    noDelay: true,
    keepAlive: true,
    keepAliveInitialDelay: KEEP_ALIVE_MS,
    // Past Node's stream, and into a buffer of ours.
    onread: {
      buffer: () => reader?.nextBuffer() ?? SHARED,
      callback: (length, buffer) => {
        reader?.onBytes(buffer.subarray(0, length) as Buffer);
        return true;
      },
    },
  });
  const deadline = setTimeout(() => socket.destroy(), connectMs);
  const failed = (): void => {
    clearTimeout(deadline);
    onFailed();
  };
  // Whatever breaks it, it closes.
  socket.on('error', () => undefined);
  socket.once('close', failed);
  socket.once('connect', () => {
    clearTimeout(deadline);
    socket.off('close', failed);
    reader = onOpen(socket);
  });
  return socket;
}
