import type { Worker } from 'node:cluster';
import { applyCommand, type InForce } from './message.js';

/** Sends workers what is in force, and knows when they have applied it: they acknowledge in order. */
export class Broadcast {
  readonly #pending = new Map<number, (() => void)[]>();

  /** Resolves when the worker has applied it, or is gone. */
  publish(worker: Worker, inForce: InForce): Promise<void> {
    // Cluster lists it until its channel is closed.
    if (worker.isDead()) return Promise.resolve();
    return new Promise((resolve) => {
      const pending = this.#pending.get(worker.id) ?? [];
      pending.push(resolve);
      this.#pending.set(worker.id, pending);
      // To one that is going, nothing gets through, and it need not.
      worker.send(applyCommand(inForce), () => undefined);
    });
  }

  acknowledge(worker: Worker): void {
    this.#pending.get(worker.id)?.shift()?.();
  }

  /** The worker is gone. */
  forget(worker: Worker): void {
    for (const resolve of this.#pending.get(worker.id) ?? []) resolve();
    this.#pending.delete(worker.id);
  }
}
