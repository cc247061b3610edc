/** Where in a bag something is; to remove it by. */
export interface Place<T> {
  readonly item: T;
  index: number;
}

/**
 * Things that come and go all the time, in no order. Not a Set: V8 makes the table of one that changes
 * without end anew again and again, and links those before to those after. Once one is tenured, young
 * collections keep what all later ones held: every request, in half of the gateways on Node 24.
 */
export class Bag<T> {
  readonly #places: Place<T>[] = [];

  get size(): number {
    return this.#places.length;
  }

  add(item: T): Place<T> {
    const place = { item, index: this.#places.length };
    this.#places.push(place);
    return place;
  }

  /** Once for each that was added. */
  remove(place: Place<T>): void {
    const last = this.#places.pop()!;
    if (last === place) return;
    this.#places[place.index] = last;
    last.index = place.index;
  }

  /** All that is in it now; what comes or goes later changes nothing there. */
  items(): T[] {
    return this.#places.map(({ item }) => item);
  }
}
