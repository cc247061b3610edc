interface OpenQuestion<Answer> {
  readonly silent: Set<number>;
  readonly answers: Answer[];
  readonly end: () => void;
}

interface Answers<Answer> {
  readonly answers: readonly Answer[];
  /** How many did not answer in time. */
  readonly silent: number;
}

/** Open questions to other processes. */
export class Questions<Answer> {
  readonly #open = new Map<number, OpenQuestion<Answer>>();
  #number = 0;

  /** Resolves once all have answered or are gone, at most after `withinMs`. @param send sends the numbered question */
  ask(processes: readonly number[], withinMs: number, send: (number: number) => void): Promise<Answers<Answer>> {
    if (processes.length === 0) return Promise.resolve({ answers: [], silent: 0 });
    const number = (this.#number += 1);
    return new Promise((resolve) => {
      const [silent, answers] = [new Set(processes), [] as Answer[]];
      const end = (): void => {
        clearTimeout(timer);
        this.#open.delete(number);
        resolve({ answers, silent: silent.size });
      };
      const timer = setTimeout(end, withinMs).unref();
      this.#open.set(number, { silent, answers, end });
      send(number);
    });
  }

  answered(number: number, by: number, answer: Answer): void {
    const open = this.#open.get(number);
    if (open?.silent.delete(by) !== true) return;
    open.answers.push(answer);
    if (open.silent.size === 0) open.end();
  }

  /** Stops waiting for a process that is gone; what it knew is lost. */
  forget(process: number): void {
    for (const { silent, end } of [...this.#open.values()]) if (silent.delete(process) && silent.size === 0) end();
  }
}
