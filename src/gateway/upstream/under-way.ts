/** What can be given up as long as it has no connection. */
interface Withdrawable {
  withdraw(): void;
}

/** What was added, to be removed by. */
interface Place {
  readonly attempt: Withdrawable;
  index: number;
}

/**
 * The attempts at one address that began and have not ended, in no order. Not a Set: V8 makes the table of
 * one that changes all the time anew again and again, and links those before to those after. Once one is
 * tenured, young collections keep what all later ones held: every request, in half of the gateways on Node 24.
 */
export class UnderWay {
  readonly #places: Place[] = [];

  get size(): number {
    return this.#places.length;
  }

  add(attempt: Withdrawable): Place {
    const place = { attempt, index: this.#places.length };
    this.#places.push(place);
    return place;
  }

  /** Once for each that was added. */
  remove(place: Place): void {
    const last = this.#places.pop()!;
    if (last === place) return;
    this.#places[place.index] = last;
    last.index = place.index;
  }

  withdrawAll(): void {
    for (const { attempt } of [...this.#places]) attempt.withdraw();
  }
}
