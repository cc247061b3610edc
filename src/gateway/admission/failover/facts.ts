import { randomBytes } from 'node:crypto';
import type { Stores } from '../engines/embedded/stores.js';
import { inTransaction } from '../engines/embedded/unavailable.js';
import { factRow } from './rows.js';
import type { Fact } from './rows.js';

/** Single values that outlive the process, shared by all processes of the machine. */
export class Facts {
  readonly #stores: Stores;

  constructor(stores: Stores) {
    this.#stores = stores;
  }

  read(fact: Fact): string | undefined {
    const { durable } = this.#stores;
    durable.resetReadTxn();
    return durable.getBinary(factRow(fact))?.toString();
  }

  /** On disk when the promise ends. Rejects with StoreUnavailable. */
  async write(fact: Fact, value: string): Promise<void> {
    if (this.read(fact) === value) return;
    const { durable } = this.#stores;
    await inTransaction(this.#stores, () => durable.putSync(factRow(fact), Buffer.from(value)));
  }

  /** Name of this store for ever: what it counted is known by it. Made at the first call of all processes. */
  spoolId(): string {
    const { durable } = this.#stores;
    const name = factRow('spool');
    return durable.transactionSync(() => {
      const known = durable.getBinary(name)?.toString();
      if (known !== undefined) return known;
      const made = randomBytes(12).toString('base64url');
      durable.putSync(name, Buffer.from(made));
      return made;
    });
  }
}
