import type { Identified } from '../../exchange.js';

/** The part of an address's connections that one operation may have: the rest is for all others when it hangs. */
const PART = 3 / 4;
/** Requests that may wait for a connection, as a multiple of the connections: the pool itself has no bound. */
const WAITING_FACTOR = 4;

/** Who asks for what, and the part of an operation's places, and of an address's, that one caller may have. */
export interface Asking {
  readonly operation: string;
  readonly caller: string;
  readonly share: number;
}

interface Startable {
  start(): void;
}

interface Waiting {
  readonly asking: Asking;
  readonly attempt: Startable;
}

interface Count {
  running: number;
  /** Those that wait included. */
  size: number;
}

interface OperationCount extends Count {
  readonly callers: Map<string, Count>;
}

const NONE: Count = { running: 0, size: 0 };

/**
 * The caller is the customer or the key, known before the store is asked: all keys of a customer begin with the same
 * eight characters. Without a key it is the address.
 */
export function askingOf({ subject }: Identified, operation: string, share: number): Asking {
  return { operation, caller: subject.kind === 'key' ? subject.id.slice(0, 8) : subject.address, share };
}

/** The attempts at one address: some run, further ones wait until one of their operation or caller ended. */
export class Shares {
  readonly #connections: number;
  readonly #operations = new Map<string, OperationCount>();
  readonly #callers = new Map<string, Count>();
  readonly #waiting: Waiting[] = [];

  constructor(connections: number) {
    this.#connections = connections;
  }

  get waiting(): number {
    return this.#waiting.length;
  }

  /** How many more of this operation may come. */
  operationRoom({ operation }: Asking): number {
    return withQueue(maxOf(this.#connections)) - (this.#operations.get(operation) ?? NONE).size;
  }

  /** How many more of this operation may come from this caller. */
  callerRoom(asking: Asking): number {
    const { operation, caller, share } = asking;
    const own = this.#operations.get(operation)?.callers.get(caller) ?? NONE;
    return Math.min(
      this.operationRoom(asking),
      withQueue(partOf(maxOf(this.#connections), share)) - own.size,
      withQueue(partOf(this.#connections, share)) - (this.#callers.get(caller) ?? NONE).size,
    );
  }

  /** Starts it, immediately or when its turn comes. A trial waits for nobody. */
  enter(attempt: Startable, asking: Asking, isTrial: boolean): void {
    this.#count(asking, 'size', 1);
    if (isTrial || this.#mayRun(asking)) this.#start(attempt, asking);
    else this.#waiting.push({ attempt, asking });
  }

  leave(attempt: Startable, asking: Asking): void {
    const slot = this.#waiting.findIndex((each) => each.attempt === attempt);
    if (slot !== -1) this.#waiting.splice(slot, 1);
    else this.#count(asking, 'running', -1);
    this.#count(asking, 'size', -1);
    const next = this.#waiting.findIndex((each) => this.#mayRun(each.asking));
    if (slot !== -1 || next === -1) return;
    const [first] = this.#waiting.splice(next, 1);
    this.#start(first!.attempt, first!.asking);
  }

  #start(attempt: Startable, asking: Asking): void {
    this.#count(asking, 'running', 1);
    attempt.start();
  }

  #mayRun({ operation, caller, share }: Asking): boolean {
    const max = maxOf(this.#connections);
    const all = this.#operations.get(operation)!;
    return (
      all.running < max &&
      all.callers.get(caller)!.running < partOf(max, share) &&
      this.#callers.get(caller)!.running < partOf(this.#connections, share)
    );
  }

  #count({ operation, caller }: Asking, what: keyof Count, by: number): void {
    let all = this.#operations.get(operation);
    if (all === undefined) this.#operations.set(operation, (all = { running: 0, size: 0, callers: new Map() }));
    all[what] += by;
    add(all.callers, caller, what, by);
    add(this.#callers, caller, what, by);
  }
}

function add(counts: Map<string, Count>, caller: string, what: keyof Count, by: number): void {
  let count = counts.get(caller);
  if (count === undefined) counts.set(caller, (count = { running: 0, size: 0 }));
  count[what] += by;
  if (count.size === 0) counts.delete(caller);
}

/** Attempts of one operation that run at once: never all connections, where there are two. */
function maxOf(connections: number): number {
  return partOf(connections, PART);
}

function partOf(places: number, part: number): number {
  return Math.max(1, Math.floor(places * part));
}

/** With those that wait. */
export function withQueue(places: number): number {
  return places * (1 + WAITING_FACTOR);
}
