import { connect } from 'node:net';
import type { Socket } from 'node:net';

/** Where an upstream listens: `host` is a name or an address. */
export type Place = { readonly host: string; readonly port: number } | { readonly path: string };

const KEEP_ALIVE_MS = 60_000;

/** Opens a connection. Ends with `onOpen`, or with `onFailed` when there is none within `connectMs`. */
export function dial(place: Place, connectMs: number, onOpen: (socket: Socket) => void, onFailed: () => void): Socket {
  const socket = connect({ ...place, noDelay: true, keepAlive: true, keepAliveInitialDelay: KEEP_ALIVE_MS });
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
    onOpen(socket);
  });
  return socket;
}
