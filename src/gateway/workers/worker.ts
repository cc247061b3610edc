import type { Registry } from 'prom-client';
import { unpacked } from './message.js';
import type { InForce, Order, Report } from './message.js';

/** How often a worker tells its figures unasked; one killed with -9 takes at most this much of them along. */
const TELL_MS = 500;

/**
 * Resolves with what is in force.
 * @param onNews told of what is in force later; resolves when it was taken over
 */
export function askPrimary(onNews: (inForce: InForce) => Promise<void>): Promise<InForce> {
  return new Promise((resolve) => {
    let take: (inForce: InForce) => Promise<void> | void = resolve;
    process.on('message', (order: Order) => {
      if (order.type !== 'in_force') return;
      const taken = take(unpacked(order));
      take = onNews;
      void Promise.resolve(taken).then(() => send({ type: 'taken_over' }));
    });
    void send({ type: 'born' });
  });
}

/** Tells the primary its figures when asked and from time to time, and once more before it goes. */
export function reportToPrimary(registry: Registry): { listening(port: number): void; stop(): Promise<void> } {
  const tell = async (): Promise<void> => send({ type: 'figures', figures: await registry.getMetricsAsJSON() });
  process.on('message', (order: Order) => {
    if (order.type === 'tell') void tell();
  });
  const timer = setInterval(() => void tell(), TELL_MS).unref();
  return {
    listening: (port) => void send({ type: 'listening', port }),
    stop: async () => {
      clearInterval(timer);
      await tell();
    },
  };
}

/** To the primary. It may be gone; then nobody is left to tell. */
function send(report: Report): Promise<void> {
  return new Promise((resolve) => {
    if (process.connected) process.send!(report, undefined, undefined, () => resolve());
    else resolve();
  });
}
