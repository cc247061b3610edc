import { connect, createServer, type AddressInfo, type Socket } from 'node:net';

type Mode = 'pass' | 'stall' | 'hold' | 'mute' | 'refuse';

export interface StallingProxy {
  readonly port: number;
  /**
   * `stall`: connections stay open and nothing moves; `hold`: only what the server answers waits; `mute`: what the
   * server answers is lost; `refuse`: all are reset, new ones too.
   */
  set(mode: Mode): void;
  /** Where new connections go from now on. */
  retarget(port: number): void;
  stop(): Promise<void>;
}

/** A TCP proxy before `firstPort` on 127.0.0.1, for what a network does to a store. */
export async function startProxy(firstPort: number): Promise<StallingProxy> {
  let targetPort = firstPort;
  const sockets = new Map<Socket, { readonly answers: boolean }>();
  let mode: Mode = 'pass';
  const rests = (answers: boolean): boolean => mode === 'stall' || (mode === 'hold' && answers);
  const track = (socket: Socket, other: Socket, answers: boolean): void => {
    sockets.set(socket, { answers });
    socket.on('error', () => undefined);
    socket.on('close', () => {
      sockets.delete(socket);
      other.destroy();
    });
    socket.on('data', (data) => {
      if (mode !== 'mute' || !answers) other.write(data);
    });
    if (rests(answers)) socket.pause();
  };
  const server = createServer((near) => {
    if (mode === 'refuse') {
      reset(near);
      return;
    }
    const far = connect(targetPort, '127.0.0.1');
    track(near, far, false);
    track(far, near, true);
  });
  server.listen(0, '127.0.0.1');
  await new Promise((resolve) => server.once('listening', resolve));
  return {
    port: (server.address() as AddressInfo).port,
    set(next) {
      mode = next;
      for (const [socket, { answers }] of sockets) {
        if (mode === 'refuse') reset(socket);
        else if (rests(answers)) socket.pause();
        else socket.resume();
      }
    },
    retarget: (port) => void (targetPort = port),
    async stop() {
      for (const socket of sockets.keys()) socket.destroy();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

/** Node cannot reset a socket that is ending: its handle would stay open, and the process would never end. */
function reset(socket: Socket): void {
  if (socket.writableEnded) socket.destroy();
  else socket.resetAndDestroy();
}
