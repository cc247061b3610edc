import type { Socket } from 'node:net';
import { bucketOf } from '../client-address.js';

/** Share of the client connections kept free for addresses that have few. */
const SPARE = 1 / 100;
/** Connections of an address examined to find an idle one. */
const MAX_LOOKS = 100;

/** Client connections by address. Near the limit, the address with the most loses one for each new one. */
export class Crowd {
  /** Each set in the order of acceptance, or of when it was last found busy. */
  readonly #byAddress = new Map<string, Set<Socket>>();
  readonly #isBusy: (socket: Socket) => boolean;
  #size = 0;

  constructor(isBusy: (socket: Socket) => boolean) {
    this.#isBusy = isBusy;
  }

  add(socket: Socket, limit: number): void {
    if (socket.remoteAddress === undefined || socket.destroyed) return;
    const address = bucketOf(socket.remoteAddress);
    const own = this.#byAddress.get(address) ?? new Set();
    this.#byAddress.set(address, own);
    if (this.#size >= limit - Math.floor(limit * SPARE)) this.#closeOne();
    own.add(socket);
    this.#size += 1;
    socket.once('close', () => {
      this.#size -= 1;
      own.delete(socket);
      if (own.size === 0 && this.#byAddress.get(address) === own) this.#byAddress.delete(address);
    });
  }

  #closeOne(): void {
    let largest = new Set<Socket>();
    for (const sockets of this.#byAddress.values()) if (sockets.size > largest.size) largest = sockets;
    let looks = 0;
    for (const socket of largest) {
      looks += 1;
      if (looks > MAX_LOOKS) return;
      if (!socket.destroyed && !this.#isBusy(socket)) {
        socket.destroy();
        return;
      }
      largest.delete(socket);
      largest.add(socket);
    }
  }
}
