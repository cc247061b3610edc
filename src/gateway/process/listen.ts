import { once } from 'node:events';
import type { Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { App } from '../app.js';

const POLL_MS = 20;
/** Time for exchanges that were cut off to reach the log and the ledger, which may take a call to the store. */
export const CUT_MS = 1_000;

/** Listens and resolves with the port. Rejects with Node's error, such as EADDRINUSE. */
export async function listen(
  server: Server,
  { host, port }: { readonly host: string; readonly port: number },
): Promise<number> {
  await once(server.listen(port, host), 'listening');
  return (server.address() as AddressInfo).port;
}

/** Stops accepting, waits up to `deadlineMs` for exchanges and tunnels to end, cuts off the rest and closes. */
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

/** Waits until nothing is in flight, at most `withinMs`. */
async function idle({ listener }: App, withinMs: number): Promise<void> {
  const endMs = performance.now() + withinMs;
  while (listener.inFlight() + listener.tunnels() > 0 && performance.now() < endMs)
    await new Promise((resolve) => setTimeout(resolve, POLL_MS));
}
