import { LEASE_MS, type Lease } from '../../admission/leases.js';
import { payerOf } from '../records/customer-id.js';

/**
 * The requests in flight of each key or customer. In memory only: when this process dies, so do the workers that have
 * them.
 */
export class Leases {
  /** When each lease ends, store ms, by payer and id. */
  readonly #ends = new Map<string, Map<number, number>>();
  #last = 0;

  /** Returns how many requests of a key's payer are in flight. */
  count(keyId: string, nowMs: number): number {
    let count = 0;
    for (const endMs of this.#ends.get(payerOf(keyId))?.values() ?? []) if (endMs > nowMs) count += 1;
    return count;
  }

  /** Gives a lease; returns its id. */
  take(keyId: string, nowMs: number): number {
    const ends = this.#ends.get(payerOf(keyId));
    for (const [id, endMs] of ends ?? []) if (endMs <= nowMs) ends?.delete(id);
    this.#last += 1;
    this.#set(keyId, this.#last, nowMs + LEASE_MS);
    return this.#last;
  }

  renew({ keyId, id }: Lease, nowMs: number): void {
    this.#set(keyId, id, nowMs + LEASE_MS);
  }

  end(keyId: string, id: number | undefined): void {
    const ends = this.#ends.get(payerOf(keyId));
    if (id === undefined || ends === undefined) return;
    ends.delete(id);
    if (ends.size === 0) this.#ends.delete(payerOf(keyId));
  }

  #set(keyId: string, id: number, endMs: number): void {
    const ends = this.#ends.get(payerOf(keyId)) ?? new Map<number, number>();
    this.#ends.set(payerOf(keyId), ends.set(id, endMs));
  }
}
