import { newest, type Remembered } from '../observe/recent/memory.js';
import { mergeRefused } from '../observe/recent/top-refused.js';
import type { Recalled } from '../observe/recent/recall.js';

/** A worker that does not respond for this long counts as silent. */
const WAIT_MS = 1_000;
const NOTHING: Remembered = { exchanges: [], refused: [] };

interface OpenQuestion {
  readonly silent: Set<number>;
  readonly answers: Remembered[];
  readonly end: () => void;
}

/** Open questions of the primary to its workers. */
export class AskedWorkers {
  readonly #asked = new Map<number, OpenQuestion>();
  #number = 0;

  /** @param send sends the question, with its number, to each of these workers */
  ask(workers: readonly number[], send: (number: number) => void): Promise<Recalled> {
    this.#number += 1;
    const number = this.#number;
    return new Promise((resolve) => {
      const end = (): void => {
        clearTimeout(timer);
        this.#asked.delete(number);
        resolve({
          exchanges: newest(asked.answers.flatMap(({ exchanges }) => exchanges)),
          refused: mergeRefused(asked.answers.flatMap(({ refused }) => refused)),
          silent: asked.silent.size,
        });
      };
      const asked: OpenQuestion = { silent: new Set(workers), answers: [], end };
      const timer = setTimeout(end, WAIT_MS);
      this.#asked.set(number, asked);
      if (workers.length === 0) end();
      else send(number);
    });
  }

  answered(number: number, worker: number, answer: Remembered): void {
    const asked = this.#asked.get(number);
    if (asked === undefined || !asked.silent.delete(worker)) return;
    asked.answers.push(answer);
    if (asked.silent.size === 0) asked.end();
  }

  /** Stops waiting for a worker that died; what it remembered is lost. */
  forget(worker: number): void {
    for (const number of [...this.#asked.keys()]) this.answered(number, worker, NOTHING);
  }
}

/** Open questions of a worker, which the primary passes on to all workers. */
export class AskedPrimary {
  readonly #asked = new Map<number, (recalled: Recalled) => void>();
  #number = 0;

  /** @param send sends the question, with its number, to the primary */
  ask(send: (number: number) => void): Promise<Recalled> {
    this.#number += 1;
    const number = this.#number;
    return new Promise((resolve) => {
      this.#asked.set(number, resolve);
      // Twice, because the primary itself waits up to WAIT_MS for the other workers.
      setTimeout(() => this.answered(number, { ...NOTHING, silent: 1 }), 2 * WAIT_MS).unref();
      send(number);
    });
  }

  answered(number: number, recalled: Recalled): void {
    this.#asked.get(number)?.(recalled);
    this.#asked.delete(number);
  }
}
