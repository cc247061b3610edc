import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';

const SLOW_MS = 500;

/** A receiver of events that takes its time. */
export async function startSlowReceiver(): Promise<{ readonly url: string; readonly stop: () => void }> {
  const server = createServer((request, response) => {
    request.resume();
    setTimeout(() => response.end(), SLOW_MS);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const stop = (): void => {
    server.closeAllConnections();
    server.close();
  };
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/events`, stop };
}
