import { randomBytes } from 'node:crypto';
import { rangeOf } from '../embedded/files/rows.js';
import type { Stores } from '../embedded/files/stores.js';
import { inTransaction } from '../embedded/files/errors.js';

/** A store that lost everything knows only the gateways that reported since: a lower count is believed after this time. */
const BELIEVED_AFTER_MS = 30_000;

/** Ids that wait to be taken leave of, at most. */
const MOST_FORMER = 100;

/** `spool`: id that what is counted here is known by. `group`: id of the gateway that runs here, or did. `former`: ids that nobody has any more. `gateways`: how many were seen last. `log`: until when changed keys were read, store ms. `day`: the first that Redis may not have taken whole. */
type Name = 'spool' | 'group' | 'former' | 'gateways' | 'log' | 'day';
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

  /** The name that what is counted here is known by. Made at the first call of all processes. */
  spoolId(): string {
    return this.#stores.durable.transactionSync(() => this.#in('spool') ?? this.#put('spool', newId()));
  }

  /**
   * A gateway starts here, and none of its processes counts yet. Gives its id: never that of before, for the folder may
   * be a copy. Where nothing was counted that Redis may lack or know, it will count under a new name too.
   */
  begin(): string {
    const { durable, recent } = this.#stores;
    const isEmpty = ![...kindIn(durable, 'u'), ...kindIn(durable, 'l'), ...kindIn(recent, 'l')].length;
    return durable.transactionSync(() => {
      const gone = [this.#in('group'), ...(isEmpty ? [this.#in('spool')] : [])].filter((id) => id !== undefined);
      const former = (this.#in('former') ?? '').split(' ').filter((id) => id !== '');
      this.#put('former', [...former, ...gone].slice(-MOST_FORMER).join(' '));
      if (isEmpty) this.#put('spool', newId());
      return this.#put('group', newId());
    });
  }

  /** Ids of gateways and spools that nobody has any more. */
  former(): readonly string[] {
    return (this.read('former') ?? '').split(' ').filter((id) => id !== '');
  }

  #in(name: Name): string | undefined {
    return this.#stores.durable.getBinary(rowOf(name))?.toString();
  }

  #put(name: Name, value: string): string {
    this.#stores.durable.putSync(rowOf(name), Buffer.from(value));
    return value;
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

function newId(): string {
  return randomBytes(12).toString('base64url');
}

/** The first row of a kind, if there is one. */
function kindIn(store: Stores['durable'], kind: string): Iterable<string> {
  return store.getKeys({ ...rangeOf(kind), limit: 1 });
}
