import { connect, createServer, type Socket } from 'node:net';
import { listen } from './listen.js';
import type { Teardown } from './program.js';

/** What a balancer of TCP says before it passes on what it is sent. */
interface BalancerOptions {
  readonly header: Buffer;
  /** So many bytes, header first, go out one by one; then the rest as it comes. */
  readonly oneByOne?: number;
}

/**
 * A balancer of TCP before `port`; header and first bytes leave in one piece unless told otherwise. Gives its own port;
 * ends with the test.
 */
export async function startBalancer(
  t: Teardown,
  port: number,
  { header, oneByOne = 0 }: BalancerOptions,
): Promise<number> {
  const server = createServer({ allowHalfOpen: true, noDelay: true }, (client) => {
    const gateway = connect({ port, host: '127.0.0.1', noDelay: true, allowHalfOpen: true });
    client.on('close', () => gateway.destroy());
    gateway.on('error', () => undefined).on('close', () => client.destroy());
    gateway.pipe(client);
    client.once('data', (first: Buffer) => {
      client.pause();
      void writeSlowly(gateway, Buffer.concat([header, first]), oneByOne).then(() => client.pipe(gateway));
    });
  });
  return (await listen(t, server)).port;
}

async function writeSlowly(socket: Socket, bytes: Buffer, oneByOne: number): Promise<void> {
  for (const byte of bytes.subarray(0, oneByOne)) {
    await new Promise((resolve) => socket.write(Buffer.from([byte]), resolve));
    await new Promise((resolve) => setImmediate(resolve));
  }
  if (bytes.length > oneByOne) socket.write(bytes.subarray(oneByOne));
}
