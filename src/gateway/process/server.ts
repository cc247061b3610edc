import type { Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { App } from '../app.js';

const POLL_MS = 20;
/** What was cut says so in log and ledger: that takes a turn or two, and the store may have to be asked. */
export const CUT_MS = 1_000;

/** Listens, and gives the port it got. Rejects with Node's error when it cannot be had. */
export function listen(
  server: Server,
  { host, port }: { readonly host: string; readonly port: number },
): Promise<number> {
  return new Promise((resolve, reject) => {
    server.once('error', reject);
    server.listen(port, host, () => {
      server.off('error', reject);
      resolve((server.address() as AddressInfo).port);
    });
  });
}

/** Stops accepting, lets what is in flight end, tunnels too, then closes; within `deadlineMs` everything is cut. */
export async function drain(app: App, deadlineMs: number): Promise<void> {
  const { listener } = app;
  const closed = new Promise<void>((resolve) => listener.server.close(() => resolve()));
  listener.drain();
  await idle(app, deadlineMs);
  listener.destroy();
  await closed;
  await idle(app, CUT_MS);
  await app.close();
}

/** Waits until nothing is in flight, so long at most. */
async function idle({ listener }: App, withinMs: number): Promise<void> {
  const endMs = performance.now() + withinMs;
  while (listener.inFlight() + listener.tunnels() > 0 && performance.now() < endMs)
    await new Promise((resolve) => setTimeout(resolve, POLL_MS));
}
