import { randomBytes } from 'node:crypto';
import type { Stores } from '../embedded/owner/stores.js';
import { inTransaction } from '../embedded/files/errors.js';

/**
 * A store that lost everything knows only gateways that have reported since: a lower count is used after this time.
 */
const LOWER_AFTER_MS = 30_000;
/** Each write is synced to the disk: smaller clock drifts are ignored. */
const CLOCK_STEP_MS = 500;
/** Maximum number of former IDs still to be deregistered. */
const MAX_FORMER = 100;

/**
 * `id`: the gateway that runs here, also in its counts. `former`: IDs of those that ran here before. `gateways`: how
 * many were last seen. `log`: until when changed keys were read, store ms. `ahead`: how far the store's clock is ahead
 * of this machine's, ms.
 */
type Name = 'id' | 'former' | 'gateways' | 'log' | 'ahead';
const rowOf = (name: Name): string => `f${name}`;

/** Single values that survive the process. */
export class Metadata {
  readonly #stores: Stores;
  /** Numbers of gateways, each with the time it was reported. */
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

  /** On disk when the promise resolves. Rejects with StoreUnavailable. */
  async write(name: Name, value: string): Promise<void> {
    if (this.read(name) === value) return;
    await inTransaction(this.#stores, () => this.#put(name, value));
  }

  /** Returns the ID of the gateway that runs here. */
  id(): string {
    return this.read('id') ?? this.begin();
  }

  /**
   * Begins a gateway, before any of its processes counts. Returns its ID, always a new one, because the folder may be a
   * copy.
   */
  begin(): string {
    return this.#stores.durable.transactionSync(() => {
      const before = this.read('id');
      if (before !== undefined) this.#put('former', [...this.former(), before].slice(-MAX_FORMER).join(' '));
      return this.#put('id', randomBytes(12).toString('base64url'));
    });
  }

  /** Returns the IDs of gateways that ran here before and that Redis may still know. */
  former(): readonly string[] {
    return (this.read('former') ?? '').split(' ').filter((id) => id !== '');
  }

  /** Returns the number of gateways when last seen; at least 1. */
  gateways(): number {
    return Math.max(1, Number(this.read('gateways') ?? 1));
  }

  /** Notes how many gateways Redis counted just now. */
  async sawGateways(count: number): Promise<void> {
    const nowMs = performance.now();
    this.#samples = [...this.#samples.filter(({ atMs }) => nowMs - atMs < LOWER_AFTER_MS), { atMs: nowMs, count }];
    await this.write('gateways', Math.max(...this.#samples.map((sample) => sample.count)).toString());
  }

  /** Returns how far the store's clock was ahead of this machine's when last seen, ms. */
  aheadMs(): number {
    return Number(this.read('ahead') ?? 0);
  }

  /** Notes that the store's clock shows `storeMs` now. */
  async sawClock(storeMs: number): Promise<void> {
    const aheadMs = Math.round(storeMs - Date.now());
    if (Math.abs(aheadMs - this.aheadMs()) >= CLOCK_STEP_MS) await this.write('ahead', aheadMs.toString());
  }

  #put(name: Name, value: string): string {
    this.#stores.durable.putSync(rowOf(name), Buffer.from(value));
    return value;
  }
}
