/** An item's place in a bag, needed to remove it. */
export interface BagEntry<T> {
  readonly item: T;
  index: number;
}

/**
 * An unordered collection of items that come and go all the time. Not a Set: V8 keeps replacing the table of a Set that
 * keeps changing, and links old tables to new ones. Once an old table is tenured, young collections keep everything
 * that the later ones held: on Node 24, in half of the gateways, every request.
 */
export class Bag<T> {
  readonly #entries: BagEntry<T>[] = [];

  get size(): number {
    return this.#entries.length;
  }

  add(item: T): BagEntry<T> {
    const entry = { item, index: this.#entries.length };
    this.#entries.push(entry);
    return entry;
  }

  /** Removes an entry. Call it only once per entry. */
  remove(entry: BagEntry<T>): void {
    const last = this.#entries.pop()!;
    if (last === entry) return;
    this.#entries[entry.index] = last;
    last.index = entry.index;
  }

  /** Returns a copy of the current items. */
  items(): T[] {
    return this.#entries.map(({ item }) => item);
  }
}
