import { createServer, type Socket } from 'node:net';
import type { Test } from 'tap';
import { Pool, type PoolSettings } from '../../../../src/gateway/upstream/http1/pool.js';
import type { Controller, OutgoingRequest } from '../../../../src/gateway/upstream/http1/transport.js';
import { listen as listenOn } from '../../../servers/listen.js';
import { until } from '../../../servers/until.js';

export const OK = 'HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n[]';
export const GET: OutgoingRequest = {
  method: 'GET',
  target: '/v1/pets',
  headers: ['X-One', '1', 'X-Latin', 'caf\u00e9'],
  body: null,
  host: null,
};

export function whole(bytes: Buffer): OutgoingRequest['body'] {
  return { bytes, rest: null };
}

interface Service {
  readonly port: number;
  readonly sockets: Socket[];
  /** Everything that came, on whichever connection, as latin1. */
  received: string;
  handle: (socket: Socket, text: string) => void;
}

export async function listen(t: Test, path?: string): Promise<Service> {
  const service: Service = {
    port: 0,
    sockets: [],
    received: '',
    handle: (socket) => void socket.write(OK),
  };
  const server = createServer((socket) => {
    service.sockets.push(socket);
    socket.setEncoding('latin1').on('data', (text: string) => {
      service.received += text;
      service.handle(socket, text);
    });
  });
  const { port } = await listenOn(t, server, path === undefined ? {} : { path });
  return Object.assign(service, { port });
}

export function open(t: Test, port: number, settings: Partial<PoolSettings> = {}): Pool {
  const pool = new Pool({
    target: { host: '127.0.0.1', port },
    tls: null,
    host: 'pets.example',
    prefix: '',
    connections: 2,
    connectMs: 5000,
    idleMs: 4000,
    ...settings,
  });
  t.teardown(() => pool.destroy());
  return pool;
}

export interface Sent {
  readonly controller: Controller;
  started: boolean;
  status: number;
  body: string;
  /** Once it ended or failed. */
  end: 'ended' | 'failed' | null;
}

export function send(
  pool: Pool,
  request: OutgoingRequest = GET,
  onData: (controller: Controller) => void = () => undefined,
): Sent {
  const sent: Omit<Sent, 'controller'> = { started: false, status: 0, body: '', end: null };
  const controller = pool.dispatch(request, {
    onRequestStart: () => void (sent.started = true),
    onResponseStart: (_controller, status) => void (sent.status = status),
    onResponseData: (steering, chunk) => {
      sent.body += chunk.toString('latin1');
      onData(steering);
    },
    onResponseEnd: () => void (sent.end = 'ended'),
    onResponseError: () => void (sent.end = 'failed'),
    onFault: () => void (sent.end = 'failed'),
  });
  return Object.assign(sent, { controller });
}

export const ended = async (...all: readonly Sent[]): Promise<readonly unknown[]> => {
  await until('each came to its end', () => all.every(({ end }) => end !== null));
  return all.map(({ end, status, body }) => [end, status, body]);
};
