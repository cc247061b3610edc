import { Counts } from './addresses/counts.js';

/** Share of an upstream's connections for long bodies, which are as slow as their clients: others need the rest. */
const PART = 1 / 2;

/** The sender of a body, and the share of slots that one caller may use. */
interface Sender {
  readonly caller: string;
  readonly share: number;
}

interface Waiting extends Sender {
  readonly settle: (hasRoom: boolean) => void;
}

/**
 * Slots for long bodies to one upstream. Each holds a connection for as long as its client takes, so one caller gets
 * only a share; if none is free, a body waits unread.
 */
export class Uploads {
  readonly #connections: () => number;
  readonly #byCaller = new Counts();
  readonly #waiting: Waiting[] = [];
  #count = 0;

  /** @param connections current maximum to all addresses */
  constructor(connections: () => number) {
    this.#connections = connections;
  }

  /** Number of bodies waiting for a slot. */
  get waiting(): number {
    return this.#waiting.length;
  }

  /** Returns false if no slot was free within `ms`; otherwise holds it until `leave`. */
  enter(sender: Sender, ms: number): Promise<boolean> {
    if (this.#hasRoom(sender)) {
      this.#take(sender);
      return Promise.resolve(true);
    }
    return new Promise((resolve) => {
      const waiting: Waiting = {
        ...sender,
        settle: (hasRoom) => {
          clearTimeout(deadline);
          this.#waiting.splice(this.#waiting.indexOf(waiting), 1);
          if (hasRoom) this.#take(sender);
          resolve(hasRoom);
        },
      };
      const deadline = setTimeout(() => waiting.settle(false), ms);
      this.#waiting.push(waiting);
    });
  }

  leave(caller: string): void {
    this.#count -= 1;
    this.#byCaller.of(caller).size -= 1;
    this.#waiting.find((each) => this.#hasRoom(each))?.settle(true);
  }

  #hasRoom({ caller, share }: Sender): boolean {
    const max = Math.max(1, Math.floor(this.#connections() * PART));
    return this.#count < max && this.#byCaller.get(caller).size < Math.max(1, Math.floor(max * share));
  }

  #take({ caller }: Sender): void {
    this.#count += 1;
    this.#byCaller.of(caller).size += 1;
  }
}
