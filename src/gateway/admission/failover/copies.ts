import type { KeyRecord } from '../../keys/record.js';
import { DAY_MS } from '../bucket.js';
import { rangeOf } from '../engines/embedded/rows.js';
import type { Stores } from '../engines/embedded/stores.js';
import { removeSome } from '../engines/embedded/sweep.js';
import { inTransaction } from '../engines/embedded/unavailable.js';
import { copyRow } from './rows.js';

/**
 * A key as Redis had it at `seenAtMs`. That is this machine's clock, which may have been set since: further
 * than `GOOD_MS` from now, on either side, it says nothing any more. Which of two is newer, `record.version` says.
 */
export interface Copy {
  readonly seenAtMs: number;
  readonly record: KeyRecord;
  /** The ban in force then. */
  readonly ban: { readonly untilMs: number; readonly level: number } | null;
}

const GOOD_MS = DAY_MS;

/** Copies of key records, for the time when Redis can't be asked. All processes of the machine share them. */
export class Copies {
  readonly #stores: Stores;
  #sweptTo = copyRow('');

  constructor(stores: Stores) {
    this.#stores = stores;
  }

  /** As others wrote them until now, when the caller has begun a new read (`resetReadTxn`). */
  read(keyId: string): Copy | undefined {
    const bytes = this.#stores.durable.getBinary(copyRow(keyId));
    if (bytes === undefined) return undefined;
    const copy = JSON.parse(bytes.toString()) as Copy;
    return isGood(copy) ? copy : undefined;
  }

  /** Whether there is one at all. */
  any(): boolean {
    this.renew();
    return [...this.#stores.durable.getKeys({ ...rangeOf('c'), limit: 1 })].length > 0;
  }

  /** Sees from now on what other processes wrote. */
  renew(): void {
    this.#stores.durable.resetReadTxn();
  }

  /**
   * Writes copies, and forgets those that are null, in one step. Of a record older than the one that is there
   * nothing stays: either it was read late, or Redis lost its data; the key is copied anew when it is met.
   */
  async write(copies: ReadonlyMap<string, Copy | null>): Promise<void> {
    const { durable, durableRoom } = this.#stores;
    await inTransaction(this.#stores, () => {
      durableRoom.claim();
      for (const [keyId, copy] of copies) {
        if (copy === null || (this.read(keyId)?.record.version ?? 0) > copy.record.version) durable.removeSync(copyRow(keyId));
        else durable.putSync(copyRow(keyId), Buffer.from(JSON.stringify(copy)));
      }
    });
  }

  /** Removes some copies that are too old; goes on from there at the next call. */
  async sweep(): Promise<void> {
    const { durable } = this.#stores;
    await inTransaction(this.#stores, () => {
      this.#sweptTo = removeSome(durable, 'c', this.#sweptTo, (row) => !isGood(JSON.parse(row.toString()) as Copy));
    });
  }
}

function isGood({ seenAtMs }: Copy): boolean {
  return Math.abs(Date.now() - seenAtMs) < GOOD_MS;
}
