import { setTimeout as sleep } from 'node:timers/promises';

/** Polls `condition` until it holds (or stops throwing); fails with `what` after `withinMs`. */
export async function until(what: string, condition: () => Promise<boolean> | boolean, withinMs = 10_000): Promise<void> {
  const endMs = performance.now() + withinMs;
  let last: unknown;
  for (;;) {
    try {
      if (await condition()) return;
      last = undefined;
    } catch (error) {
      last = error;
    }
    if (performance.now() > endMs) throw new Error(`waited ${withinMs} ms in vain until ${what}`, { cause: last });
    await sleep(5);
  }
}
