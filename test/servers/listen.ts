import { once } from 'node:events';
import type { AddressInfo, ListenOptions, Server, Socket } from 'node:net';
import type { Teardown } from './program.js';

interface Listening {
  /** 0 on a Unix socket. */
  readonly port: number;
  /** Connections that are open. */
  readonly sockets: ReadonlySet<Socket>;
}

/**
 * Has `server` listen, on a free port of 127.0.0.1 unless told otherwise. It ends with the test, and its connections
 * with it.
 */
export async function listen(t: Teardown, server: Server, where: ListenOptions = {}): Promise<Listening> {
  const sockets = new Set<Socket>();
  server.on('connection', (socket: Socket) => {
    sockets.add(socket);
    socket.on('error', () => undefined).on('close', () => sockets.delete(socket));
  });
  server.listen(where.path === undefined ? { port: 0, host: '127.0.0.1', ...where } : where);
  await once(server, 'listening');
  t.teardown(() => {
    for (const socket of sockets) socket.destroy();
    return new Promise<void>((resolve) => server.close(() => resolve()));
  });
  return { port: where.path === undefined ? (server.address() as AddressInfo).port : 0, sockets };
}
