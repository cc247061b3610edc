/** Keeps the `max` largest items. */
export class Largest<Item> {
  readonly #max: number;
  readonly #sizeOf: (item: Item) => number;
  #items: Item[] = [];
  #count = 0;

  constructor(max: number, sizeOf: (item: Item) => number) {
    this.#max = max;
    this.#sizeOf = sizeOf;
  }

  add(item: Item): void {
    this.#count += 1;
    if (this.#items.push(item) >= 2 * this.#max) this.#cut();
  }

  /** Returns the items, the largest first; equal ones in the order in which they were added. */
  list(): readonly Item[] {
    this.#cut();
    return this.#items;
  }

  /** Number of items that were not kept. */
  get left(): number {
    return Math.max(0, this.#count - this.#max);
  }

  #cut(): void {
    this.#items = this.#items.sort((one, other) => this.#sizeOf(other) - this.#sizeOf(one)).slice(0, this.#max);
  }
}
