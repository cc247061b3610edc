import { setTimeout as sleep } from 'node:timers/promises';

const SHORTEST_MS = 5;
const LONGEST_MS = 50;

/**
 * Polls `condition` until it holds (or stops throwing); fails with `what` after `withinMs`.
 * The longer it waits the rarer it asks: a scrape every 5 ms would take the processor from what is waited for.
 */
export async function until(
  what: string,
  condition: () => Promise<boolean> | boolean,
  withinMs = 120_000,
): Promise<void> {
  const startMs = performance.now();
  let last: unknown;
  for (;;) {
    try {
      if (await condition()) return;
      last = undefined;
    } catch (error) {
      last = error;
    }
    const waitedMs = performance.now() - startMs;
    if (waitedMs > withinMs) throw new Error(`waited ${withinMs} ms in vain until ${what}`, { cause: last });
    await sleep(Math.min(LONGEST_MS, SHORTEST_MS + waitedMs / 20));
  }
}
