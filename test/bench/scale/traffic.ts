import { slotOf } from '../../../src/gateway/store/redis/link/slot.js';
import { keyName } from '../../../src/gateway/store/redis/names.js';

const SLOTS = 16_384;

/** Numbers from 0 to 1, the same for the same seed (mulberry32). */
export function randomOf(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296;
  };
}

/** Keys, of which the n-th most active makes a part of all requests that goes with 1 / n^skew (Zipf); 0: all alike. */
export class Keys {
  /** The part of all requests that the key at a place and those before it make. */
  readonly #upTo: Float64Array;
  readonly #slots: Uint16Array;

  constructor(count: number, skew: number, random: () => number) {
    this.#upTo = new Float64Array(count);
    this.#slots = new Uint16Array(count);
    let sum = 0;
    for (let n = 0; n < count; n += 1) {
      sum += 1 / (n + 1) ** skew;
      this.#upTo[n] = sum;
      this.#slots[n] = slotOf(
        keyName(
          Math.floor(random() * 2 ** 48)
            .toString(16)
            .padStart(12, '0'),
        ),
      );
    }
    for (let n = 0; n < count; n += 1) this.#upTo[n] = this.#upTo[n]! / sum;
  }

  /** The most active key's part of all requests. */
  get hottestShare(): number {
    return this.#upTo[0]!;
  }

  /** The place of a key, as often as it is active. */
  draw(random: () => number): number {
    const wanted = random();
    let [low, high] = [0, this.#upTo.length - 1];
    while (low < high) {
      const middle = (low + high) >> 1;
      if (this.#upTo[middle]! <= wanted) low = middle + 1;
      else high = middle;
    }
    return low;
  }

  /** Which of `masters` has it, when each has as many slots as the others. */
  masterOf(key: number, masters: number): number {
    return Math.floor((this.#slots[key]! * masters) / SLOTS);
  }
}
