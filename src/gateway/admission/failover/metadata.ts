import { randomBytes } from 'node:crypto';
import type { Stores } from '../engines/embedded/files/stores.js';
import { inTransaction } from '../engines/embedded/files/errors.js';

/** A store that lost everything knows only the gateways that reported since: a lower count is believed after this time. */
const BELIEVED_AFTER_MS = 30_000;

/** `spool`: id of this store. `gateways`: how many were seen last. `log`: until when changed keys were read, store ms. `day`: the first that Redis may not have taken whole. */
type Name = 'spool' | 'gateways' | 'log' | 'day';
const rowOf = (name: Name): string => `f${name}`;

/** Single values that outlive the process, shared by all processes of the machine. */
export class Metadata {
  readonly #stores: Stores;
  /** How many gateways there were, each with when it was reported. */
  #samples: readonly { readonly atMs: number; readonly count: number }[];

  constructor(stores: Stores) {
    this.#stores = stores;
    this.#samples = [{ atMs: performance.now(), count: this.gateways() }];
  }

  read(name: Name): string | undefined {
    const { durable } = this.#stores;
    durable.resetReadTxn();
    return durable.getBinary(rowOf(name))?.toString();
  }

  /** On disk when the promise ends. Rejects with StoreUnavailable. */
  async write(name: Name, value: string): Promise<void> {
    if (this.read(name) === value) return;
    const { durable } = this.#stores;
    await inTransaction(this.#stores, () => durable.putSync(rowOf(name), Buffer.from(value)));
  }

  /** Name of this store for ever: what it counted is known by it. Made at the first call of all processes. */
  spoolId(): string {
    const { durable } = this.#stores;
    return durable.transactionSync(() => {
      const known = durable.getBinary(rowOf('spool'))?.toString();
      if (known !== undefined) return known;
      const made = randomBytes(12).toString('base64url');
      durable.putSync(rowOf('spool'), Buffer.from(made));
      return made;
    });
  }

  /** How many gateways there were when any process of the machine looked last; at least 1. */
  gateways(): number {
    return Math.max(1, Number(this.read('gateways') ?? 1));
  }

  /** Redis counted so many gateways just now. */
  async sawGateways(count: number): Promise<void> {
    const nowMs = performance.now();
    this.#samples = [...this.#samples.filter(({ atMs }) => nowMs - atMs < BELIEVED_AFTER_MS), { atMs: nowMs, count }];
    await this.write('gateways', Math.max(...this.#samples.map((sample) => sample.count)).toString());
  }
}
