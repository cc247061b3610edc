/** More names than this are looked through for those that came to nothing. */
const FORGET_AT = 1_024;

/** Requests of one operation or caller. */
export class Count {
  /** Those that wait included. */
  size = 0;
  running = 0;
}

export const NONE: Readonly<Count> = new Count();

/** Counts by name, of names without a bound: those at zero stay for a while, because most callers come again. */
export class Counts {
  readonly #counts = new Map<string, Count>();
  #forgetAt = FORGET_AT;

  get(name: string): Readonly<Count> {
    return this.#counts.get(name) ?? NONE;
  }

  /** The count to change. */
  of(name: string): Count {
    const known = this.#counts.get(name);
    if (known !== undefined) return known;
    if (this.#counts.size >= this.#forgetAt) this.#forget();
    const count = new Count();
    this.#counts.set(name, count);
    return count;
  }

  /** The next time comes when as many again are in use: so each name costs a look or two. */
  #forget(): void {
    for (const [name, { size }] of this.#counts) if (size === 0) this.#counts.delete(name);
    this.#forgetAt = FORGET_AT + 2 * this.#counts.size;
  }
}
