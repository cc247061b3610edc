import { onceATurn } from '../../../shared/turns/once-a-turn.js';
import type { Asking, Slot } from '../../exchange.js';
import type { Address } from './address.js';
import { Counts, type Count } from './counts.js';

/** The longest wait for a slot: as long as a store may take to decide, and it decides many together. */
const MAX_WAIT_MS = 1_000;

/** A class rather than an object with a closure, because there is one per request. */
class PromisedSlot implements Slot {
  readonly asking: Asking;
  readonly #slots: Slots;
  readonly #operation: Count;
  readonly #caller: Count;

  constructor(asking: Asking, slots: Slots, operation: Count, caller: Count) {
    this.asking = asking;
    this.#slots = slots;
    this.#operation = operation;
    this.#caller = caller;
    operation.size += 1;
    caller.size += 1;
  }

  free(): void {
    this.#operation.size -= 1;
    this.#caller.size -= 1;
    this.#slots.onFree();
  }
}

interface Waiting {
  readonly asking: Asking;
  readonly sinceMs: number;
  readonly resolve: (slot: Slot | null) => void;
}

/**
 * Slots at an upstream, reserved for requests that are being decided: a request without one is refused, free of charge.
 * When all are reserved, further requests wait until it is clear which are used, because some of them are refused.
 */
export class Slots {
  readonly #addresses: readonly Address[];
  /** Requests that an address accepts. */
  readonly #full: number;
  #promised = 0;
  readonly #byOperation = new Counts();
  readonly #byCaller = new Counts();
  #waiting: Waiting[] = [];
  readonly #scheduleRequest = onceATurn(() => this.#again());

  constructor(addresses: readonly Address[], full: number) {
    this.#addresses = addresses;
    this.#full = full;
  }

  take(asking: Asking): Slot | null | Promise<Slot | null> {
    const slot = this.#take(asking);
    if (slot !== 'promised') return slot;
    return new Promise((resolve) => this.#waiting.push({ asking, sinceMs: performance.now(), resolve }));
  }

  #take(asking: Asking): Slot | null | 'promised' {
    let free = 0;
    let ofOperation = 0;
    let own = 0;
    for (const { breaker, underWay, shares } of this.#addresses) {
      const isOpen = breaker.isOpenFor(asking.caller);
      // When a trial is due, one request is the trial.
      const room = isOpen ? Number(breaker.dueMs <= performance.now()) : this.#full - underWay.size;
      free += Math.max(0, room);
      ofOperation += isOpen ? room : Math.max(0, Math.min(room, shares.operationRoom(asking)));
      own += isOpen ? room : Math.max(0, Math.min(room, shares.callerRoom(asking)));
    }
    if (own === 0) return null;
    const operation = this.#byOperation.of(asking.operation);
    const caller = this.#byCaller.of(asking.caller);
    if (this.#promised >= free || operation.size >= ofOperation || caller.size >= own) return 'promised';
    this.#promised += 1;
    return new PromisedSlot(asking, this, operation, caller);
  }

  onFree(): void {
    this.#promised -= 1;
    if (this.#waiting.length > 0) this.#scheduleRequest();
  }

  /** Slots are reserved as long as requests wait: so this runs again until none does. */
  #again(): void {
    const waiting = this.#waiting;
    this.#waiting = [];
    const tooLongMs = performance.now() - MAX_WAIT_MS;
    for (const each of waiting) {
      const slot = this.#take(each.asking);
      if (slot !== 'promised') each.resolve(slot);
      else if (each.sinceMs < tooLongMs) each.resolve(null);
      else this.#waiting.push(each);
    }
  }
}
