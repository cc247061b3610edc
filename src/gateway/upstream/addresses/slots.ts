import { onceATurn } from '../../../shared/once-a-turn.js';
import type { Slot } from '../../exchange.js';
import type { Address } from './address.js';

/** Who waits longer has none: as long as a store may take to decide, and it decides many at once. */
const MAX_WAIT_MS = 1_000;

/** What is full, of all requests to an address and of one operation. */
interface Bounds {
  readonly all: number;
  readonly operation: number;
}

interface Count {
  promised: number;
}

/** A class rather than an object with a closure: one is made for each request. */
class PromisedSlot implements Slot {
  readonly #own: Count;
  readonly #slots: Slots;

  constructor(own: Count, slots: Slots) {
    this.#own = own;
    this.#slots = slots;
  }

  free(): void {
    this.#own.promised -= 1;
    this.#slots.onFree();
  }
}

interface Waiting {
  readonly operation: string;
  readonly sinceMs: number;
  readonly resolve: (slot: Slot | null) => void;
}

/**
 * Places at an upstream, promised to requests that are being decided: who gets none is refused at no cost. Who comes
 * when all that are left are promised waits until it is clear who keeps them: some are refused anyway.
 */
export class Slots {
  readonly #addresses: readonly Address[];
  readonly #bounds: Bounds;
  #promised = 0;
  readonly #byOperation = new Map<string, Count>();
  #waiting: Waiting[] = [];
  readonly #scheduleRequest = onceATurn(() => this.#again());

  constructor(addresses: readonly Address[], bounds: Bounds) {
    this.#addresses = addresses;
    this.#bounds = bounds;
  }

  take(operation: string): Slot | null | Promise<Slot | null> {
    const slot = this.#take(operation);
    if (slot !== 'promised') return slot;
    return new Promise((resolve) => this.#waiting.push({ operation, sinceMs: performance.now(), resolve }));
  }

  #take(operation: string): Slot | null | 'promised' {
    let free = 0;
    let open = 0;
    for (const { breaker, underWay, shareOf } of this.#addresses) {
      const isOpen = breaker.isOpen;
      // Of those that come when a trial is due, one is the trial.
      const room = isOpen ? Number(breaker.dueMs <= performance.now()) : this.#bounds.all - underWay.size;
      free += Math.max(0, room);
      open += isOpen ? room : Math.max(0, Math.min(room, this.#bounds.operation - shareOf(operation).size));
    }
    if (open === 0) return null;
    let own = this.#byOperation.get(operation);
    if (own === undefined) this.#byOperation.set(operation, (own = { promised: 0 }));
    if (this.#promised >= free || own.promised >= open) return 'promised';
    return this.#promise(own);
  }

  #promise(own: Count): Slot {
    this.#promised += 1;
    own.promised += 1;
    return new PromisedSlot(own, this);
  }

  onFree(): void {
    this.#promised -= 1;
    if (this.#waiting.length > 0) this.#scheduleRequest();
  }

  /** Something is promised as long as somebody waits: so this comes again, until nobody does. */
  #again(): void {
    const waiting = this.#waiting;
    this.#waiting = [];
    const tooLongMs = performance.now() - MAX_WAIT_MS;
    for (const each of waiting) {
      const slot = this.#take(each.operation);
      if (slot !== 'promised') each.resolve(slot);
      else if (each.sinceMs < tooLongMs) each.resolve(null);
      else this.#waiting.push(each);
    }
  }
}
