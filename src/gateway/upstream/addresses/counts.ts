/** With more names than this, those at zero are removed. */
const FORGET_AT = 1_024;

/** Requests of one operation or caller. */
export class Count {
  /** Including those that wait. */
  size = 0;
  running = 0;
}

export const NONE: Readonly<Count> = new Count();

/** Counts by name, of any number of names. Those at zero stay for a while, because most callers return. */
export class Counts {
  readonly #counts = new Map<string, Count>();
  #forgetAt = FORGET_AT;

  get(name: string): Readonly<Count> {
    return this.#counts.get(name) ?? NONE;
  }

  /** Returns the count to change. */
  of(name: string): Count {
    const known = this.#counts.get(name);
    if (known !== undefined) return known;
    if (this.#counts.size >= this.#forgetAt) this.#forget();
    const count = new Count();
    this.#counts.set(name, count);
    return count;
  }

  /** Next when the number of names has doubled: so each name is examined once or twice. */
  #forget(): void {
    for (const [name, { size }] of this.#counts) if (size === 0) this.#counts.delete(name);
    this.#forgetAt = FORGET_AT + 2 * this.#counts.size;
  }
}
