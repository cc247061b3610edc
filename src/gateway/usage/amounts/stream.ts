/** Looks one item ahead in what comes in batches. */
export class Stream<Item> {
  readonly #batches: AsyncIterator<readonly Item[]>;
  #batch: readonly Item[] = [];
  #at = 0;

  constructor(batches: AsyncIterable<readonly Item[]>) {
    this.#batches = batches[Symbol.asyncIterator]();
  }

  /** The next one, which stays; undefined at the end. */
  async peek(): Promise<Item | undefined> {
    while (this.#at >= this.#batch.length) {
      const next = await this.#batches.next();
      if (next.done === true) return undefined;
      this.#batch = next.value;
      this.#at = 0;
    }
    return this.#batch[this.#at];
  }

  /** Those from the next on that are wanted, up to the first that is not. */
  async takeWhile(isWanted: (item: Item) => boolean, take: (item: Item) => void): Promise<void> {
    for (let item = await this.peek(); item !== undefined && isWanted(item); item = await this.peek()) {
      // Within a batch without waiting: there are millions of rows.
      for (; this.#at < this.#batch.length && isWanted(this.#batch[this.#at]!); this.#at += 1)
        take(this.#batch[this.#at]!);
    }
  }
}
