/** Reads items from batches, looking one item ahead. */
export class Stream<Item> {
  readonly #batches: AsyncIterator<readonly Item[]>;
  #batch: readonly Item[] = [];
  #at = 0;

  constructor(batches: AsyncIterable<readonly Item[]>) {
    this.#batches = batches[Symbol.asyncIterator]();
  }

  /** The next item, after `peek` or `takeWhile`; undefined at the end. */
  get head(): Item | undefined {
    return this.#batch[this.#at];
  }

  /** Returns the next item without taking it; undefined at the end. */
  async peek(): Promise<Item | undefined> {
    while (this.#at >= this.#batch.length) {
      const next = await this.#batches.next();
      if (next.done === true) return undefined;
      this.#batch = next.value;
      this.#at = 0;
    }
    return this.head;
  }

  /** Takes items until the first that is not wanted. */
  async takeWhile(isWanted: (item: Item) => boolean, take: (item: Item) => void): Promise<void> {
    for (let item = await this.peek(); item !== undefined && isWanted(item); item = await this.peek()) {
      // No await within a batch: there are millions of rows.
      for (; this.#at < this.#batch.length && isWanted(this.#batch[this.#at]!); this.#at += 1)
        take(this.#batch[this.#at]!);
    }
  }

  async close(): Promise<void> {
    await this.#batches.return?.();
  }
}
