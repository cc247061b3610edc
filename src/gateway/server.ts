import type { App } from './app.js';
import type { Settings } from './config/settings.js';

/** How often a drain looks whether the last exchange has ended. */
const POLL_MS = 20;

/** Listens on the public address. Rejects with Node's error when the port is taken. */
export function listen(app: App, settings: Settings): Promise<void> {
  const { server } = app.listener;
  return new Promise((resolve, reject) => {
    server.once('error', reject);
    server.listen(settings.listen.port, settings.listen.host, () => {
      server.off('error', reject);
      resolve();
    });
  });
}

/** Stops accepting, lets what is in flight end, then closes; within `deadlineMs` everything is cut. */
export async function drain(app: App, deadlineMs: number): Promise<void> {
  const { listener } = app;
  const closed = new Promise<void>((resolve) => listener.server.close(() => resolve()));
  listener.drain();
  const endMs = performance.now() + deadlineMs;
  while (listener.inFlight() > 0 && performance.now() < endMs) await new Promise((resolve) => setTimeout(resolve, POLL_MS));
  listener.destroy();
  await closed;
  await app.close();
}
