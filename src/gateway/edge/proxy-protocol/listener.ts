import type { Server } from 'node:http';
import type { Socket } from 'node:net';
import { Server as TlsServer } from 'node:tls';
import type { Handler } from '../handler.js';
import { readProxyHeader } from './header.js';

/** Why a connection was closed before it could be served; a metric calls it so. */
export const PROXY_REFUSALS = ['untrusted_peer', 'malformed', 'timeout', 'left'] as const;
export type ProxyRefusal = (typeof PROXY_REFUSALS)[number];

/**
 * From now on every connection must begin with a PROXY header of a trusted proxy, or is closed: nobody would know who
 * it is. The listeners added before get it behind its header, with `remoteAddress` as the header says.
 */
export function expectProxyHeaders(
  server: Server,
  current: () => Handler,
  onRefused: (why: ProxyRefusal) => void,
): void {
  const callers = server instanceof TlsServer ? nameSecured(server) : null;
  const serve = server.listeners('connection');
  server.removeAllListeners('connection');
  server.on('connection', (socket: Socket) => {
    const { addresses, limits } = current();
    const refuse = (why: ProxyRefusal): void => {
      onRefused(why);
      socket.destroy();
    };
    const accept = (source: string | null): void => {
      if (source !== null) {
        if (callers === null) name(socket, source);
        else callers.remember(socket, source);
      }
      for (const listener of serve) listener.call(server, socket);
    };
    // Reset already, it has no address any more.
    if (socket.remoteAddress === undefined) refuse('left');
    else if (!addresses.trusts(socket.remoteAddress)) refuse('untrusted_peer');
    else awaitHeader(socket, limits.headers_time, refuse, accept);
  });
}

/** Calls one of the two, once. What came behind the header is put back. */
function awaitHeader(
  socket: Socket,
  withinMs: number,
  refuse: (why: ProxyRefusal) => void,
  accept: (source: string | null) => void,
): void {
  let bytes: Buffer = Buffer.alloc(0);
  const settle = (): void => {
    clearTimeout(deadline);
    socket.off('readable', read).off('error', leave).off('end', leave).off('close', leave);
  };
  const fail = (why: ProxyRefusal): void => {
    settle();
    // Also of a connection that is cut an error may still come.
    socket.on('error', () => undefined);
    refuse(why);
  };
  const leave = (): void => fail('left');
  const read = (): void => {
    const chunk = socket.read() as Buffer | null;
    if (chunk === null) return;
    bytes = Buffer.concat([bytes, chunk]);
    const reading = readProxyHeader(bytes);
    if (reading === 'incomplete') return;
    if (reading === 'malformed') {
      fail('malformed');
      return;
    }
    settle();
    if (bytes.length > reading.length) socket.unshift(bytes.subarray(reading.length));
    accept(reading.source);
  };
  const deadline = setTimeout(() => fail('timeout'), withinMs);
  socket.on('readable', read).on('error', leave).on('end', leave).on('close', leave);
}

function name(socket: Socket, source: string): void {
  Object.defineProperty(socket, 'remoteAddress', { value: source });
}

/** Who is on the connections whose handshake is not done: TLS makes a socket of its own, with the same two ends. */
function nameSecured(server: TlsServer): { remember(socket: Socket, source: string): void } {
  const callers = new Map<string, { readonly source: string }>();
  // Before all others, Node's own listener among them.
  server.prependListener('secureConnection', (socket) => {
    const caller = callers.get(endsOf(socket));
    if (caller !== undefined) name(socket, caller.source);
  });
  return {
    remember: (socket, source) => {
      const ends = endsOf(socket);
      const caller = { source };
      callers.set(ends, caller);
      socket.once('close', () => callers.get(ends) === caller && callers.delete(ends));
    },
  };
}

function endsOf({ remoteAddress, remotePort, localAddress, localPort }: Socket): string {
  return [remoteAddress, remotePort, localAddress, localPort].join(' ');
}
