import type { Asking, Identified } from '../../exchange.js';
import { Count, Counts, NONE } from './counts.js';

/** The part of an address's connections that one operation may have: the rest is for all others if it hangs. */
const PART = 3 / 4;
/** Requests that may wait for a connection, as a multiple of the connections: the pool itself has no bound. */
const WAITING_FACTOR = 4;

/** Slots of an attempt: of its operation, of its caller there, and of its caller at the address. */
export interface Places {
  readonly asking: Asking;
  readonly operation: Count;
  readonly own: Count;
  readonly caller: Count;
}

interface Startable {
  places: Places | null;
  start(): void;
}

/** Requests that may run for one caller: of one operation, and of all. */
interface Bounds {
  readonly share: number;
  readonly own: number;
  readonly caller: number;
}

/**
 * The caller is the customer or the key, known before the store is asked: all keys of a customer begin with the same
 * eight characters. Without a key it is the address.
 */
export function askingOf({ subject }: Identified, operation: string, share: number): Asking {
  return { operation, caller: subject.kind === 'key' ? subject.id.slice(0, 8) : subject.address, share };
}

/** The attempts at one address: some run, others wait until one of their operation or caller has ended. */
export class Shares {
  readonly #connections: number;
  /** Attempts of one operation that may run: never all connections, if there are two or more. */
  readonly #operationBound: number;
  #bounds: Bounds = { share: 0, own: 0, caller: 0 };
  readonly #operations = new Map<string, { readonly all: Count; readonly callers: Counts }>();
  readonly #callers = new Counts();
  #waiting: Startable[] = [];

  constructor(connections: number) {
    this.#connections = connections;
    this.#operationBound = partOf(connections, PART);
  }

  get waiting(): number {
    return this.#waiting.length;
  }

  /** Returns how many more of this operation may start or wait. */
  operationRoom({ operation }: Asking): number {
    return withQueue(this.#operationBound) - (this.#operations.get(operation)?.all ?? NONE).size;
  }

  /** Returns how many more of this operation may start or wait for this caller. */
  callerRoom(asking: Asking): number {
    const { operation, caller, share } = asking;
    const bounds = this.#boundsOf(share);
    const own = this.#operations.get(operation)?.callers.get(caller) ?? NONE;
    return Math.min(
      this.operationRoom(asking),
      withQueue(bounds.own) - own.size,
      withQueue(bounds.caller) - this.#callers.get(caller).size,
    );
  }

  /** Starts it, immediately or when its turn comes. A trial waits for nobody. */
  enter(attempt: Startable, asking: Asking, isTrial: boolean): void {
    const { operation, caller } = asking;
    let known = this.#operations.get(operation);
    if (known === undefined) this.#operations.set(operation, (known = { all: new Count(), callers: new Counts() }));
    const { all, callers } = known;
    const places: Places = { asking, operation: all, own: callers.of(caller), caller: this.#callers.of(caller) };
    attempt.places = places;
    add(places, 'size', 1);
    if (isTrial || this.#mayRun(places)) start(attempt, places);
    else this.#waiting.push(attempt);
  }

  leave(attempt: Startable): void {
    const places = attempt.places!;
    add(places, 'size', -1);
    if (this.#waiting.includes(attempt)) {
      this.#waiting = this.#waiting.filter((each) => each !== attempt);
      return;
    }
    add(places, 'running', -1);
    if (this.#waiting.length === 0) return;
    const next = this.#waiting.findIndex((each) => this.#mayRun(each.places!));
    if (next === -1) return;
    const [first] = this.#waiting.splice(next, 1);
    start(first!, first!.places!);
  }

  #mayRun({ asking, operation, own, caller }: Places): boolean {
    const bounds = this.#boundsOf(asking.share);
    return operation.running < this.#operationBound && own.running < bounds.own && caller.running < bounds.caller;
  }

  /** Computed when the settings change. */
  #boundsOf(share: number): Bounds {
    if (share !== this.#bounds.share)
      this.#bounds = {
        share,
        own: partOf(this.#operationBound, share),
        caller: partOf(this.#connections, share),
      };
    return this.#bounds;
  }
}

function start(attempt: Startable, places: Places): void {
  add(places, 'running', 1);
  attempt.start();
}

function add({ operation, own, caller }: Places, figure: keyof Count, by: number): void {
  operation[figure] += by;
  own[figure] += by;
  caller[figure] += by;
}

function partOf(places: number, part: number): number {
  return Math.max(1, Math.floor(places * part));
}

/** Including those that wait. */
export function withQueue(places: number): number {
  return places * (1 + WAITING_FACTOR);
}
