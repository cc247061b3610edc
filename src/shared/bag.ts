/** Where in a bag something is; to remove it by. */
export interface BagEntry<T> {
  readonly item: T;
  index: number;
}

/**
 * Things that come and go all the time, in no order. Not a Set: V8 makes the table of one that changes
 * without end anew again and again, and links those before to those after. Once one is tenured, young
 * collections keep what all later ones held: every request, in half of the gateways on Node 24.
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

  /** Once for each that was added. */
  remove(entry: BagEntry<T>): void {
    const last = this.#entries.pop()!;
    if (last === entry) return;
    this.#entries[entry.index] = last;
    last.index = entry.index;
  }

  /** All that is in it now; what comes or goes later changes nothing there. */
  items(): T[] {
    return this.#entries.map(({ item }) => item);
  }
}
