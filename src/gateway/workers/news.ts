import type { Worker } from 'node:cluster';
import { orderOf } from './message.js';
import type { InForce } from './message.js';

/** Gives workers what is in force, and knows when they took it over: each acknowledges in the order it was told. */
export class News {
  readonly #waits = new Map<number, (() => void)[]>();

  /** Resolves when the worker took it over, or is gone. */
  give(worker: Worker, inForce: InForce): Promise<void> {
    // Cluster lists it until its channel is closed.
    if (worker.isDead()) return Promise.resolve();
    return new Promise((resolve) => {
      const waits = this.#waits.get(worker.id) ?? [];
      waits.push(resolve);
      this.#waits.set(worker.id, waits);
      // To one that is going, nothing gets through, and it need not.
      worker.send(orderOf(inForce), () => undefined);
    });
  }

  acknowledge(worker: Worker): void {
    this.#waits.get(worker.id)?.shift()?.();
  }

  /** The worker is gone. */
  bury(worker: Worker): void {
    for (const resolve of this.#waits.get(worker.id) ?? []) resolve();
    this.#waits.delete(worker.id);
  }
}
