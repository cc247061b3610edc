import { createServer, type AddressInfo } from 'node:net';

/**
 * A port of 127.0.0.1 that was free a moment ago. Somebody may take it before it is used: try again then.
 * Below 50000, so that a Redis Cluster bus (port + 10000) and outgoing connections do not get in the way.
 */
export async function freePort(): Promise<number> {
  for (;;) {
    const port = 10_000 + Math.floor(Math.random() * 20_000);
    if (await isFree(port)) return port;
  }
}

/** A port whose Cluster bus port (10000 above) is free too. */
export async function freePortWithBus(): Promise<number> {
  for (;;) {
    const port = await freePort();
    if (await isFree(port + 10_000)) return port;
  }
}

function isFree(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const server = createServer();
    server.once('error', () => resolve(false));
    server.listen(port, '127.0.0.1', () => {
      const taken = (server.address() as AddressInfo).port;
      server.close(() => resolve(taken === port));
    });
  });
}
