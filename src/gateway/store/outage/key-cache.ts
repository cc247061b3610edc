import { CUSTOMER_ID_LENGTH, customerOf } from '../records/customer-id.js';
import type { CustomerRecord } from '../records/customer.js';
import type { KeyRecord } from '../records/key.js';
import { DAY_MS } from '../../admission/bucket.js';
import { rangeOf } from '../embedded/files/rows.js';
import type { Stores } from '../embedded/files/stores.js';
import { removeSome } from '../embedded/sweep.js';
import { inTransaction } from '../embedded/files/errors.js';
import type { RedisEngine } from '../redis/engine.js';
import { StoreUnavailable, type AdmissionRequest } from '../../admission/port.js';
import { isUnknown } from '../redis/trust/doubt.js';
import { whyInvalid } from '../embedded/records/verifier.js';
import type { Verdict } from '../../admission/verdict.js';
import { LastVerdicts, RENEW_MS } from './last-verdicts.js';

/**
 * A key as Redis had it at `seenAtMs`. That is this machine's clock, which may have been set since: further
 * than `FRESH_MS` from now, on either side, it says nothing any more. Which of two is newer, `record.version` says.
 */
export interface CachedKey {
  readonly seenAtMs: number;
  readonly record: KeyRecord;
  /** The ban in force then. */
  readonly ban: { readonly untilMs: number; readonly level: number } | null;
}

/** The same of a customer: a key of it is known here as long as both are. */
interface CachedCustomer {
  readonly seenAtMs: number;
  readonly record: CustomerRecord;
}
type Cached = CachedKey | CachedCustomer;

const FRESH_MS = DAY_MS;
/** Records read at once. With the pause between two refreshes it bounds what the cache costs Redis. */
const READ_AT_ONCE = 64;

/** Of a key or a customer: their ids differ in length. */
export const cachedKeyRow = (id: string): string => `c${id}`;

/**
 * What is known here of each key that Redis decided about, for the time when it can't be asked: its record, on
 * disk and shared by all processes of the machine, and the last verdict that this process saw.
 */
export class KeyCache {
  readonly verdicts = new LastVerdicts();
  readonly #stores: Stores;
  readonly #redis: Pick<RedisEngine, 'keys' | 'customers' | 'bans'>;
  #sweptTo = cachedKeyRow('');

  constructor(stores: Stores, redis: Pick<RedisEngine, 'keys' | 'customers' | 'bans'>) {
    this.#stores = stores;
    this.#redis = redis;
  }

  /** As others wrote it until now, when the caller has begun a new read (`resetReadTxn`). */
  key(keyId: string): CachedKey | undefined {
    return this.read(keyId) as CachedKey | undefined;
  }

  customer(customerId: string): CustomerRecord | undefined {
    return (this.read(customerId) as CachedCustomer | undefined)?.record;
  }

  /** What is cached under an id: a key, or a customer under its shorter one. */
  read(id: string): Cached | undefined {
    const bytes = this.#stores.durable.getBinary(cachedKeyRow(id));
    const cached = bytes && decoded(bytes);
    return cached !== undefined && isFresh(cached) ? cached : undefined;
  }

  /**
   * The record in which plan and limits of a key stand: its customer's, where it has one; also of a customer itself.
   */
  holder(id: string): KeyRecord | CustomerRecord | undefined {
    return this.read(isCustomer(id) ? id : (customerOf(id) ?? id))?.record;
  }

  isEmpty(): boolean {
    const { durable } = this.#stores;
    durable.resetReadTxn();
    return [...durable.getKeys({ ...rangeOf('c'), limit: 1 })].length === 0;
  }

  /** Indexes of keys that Redis doesn't know, though their copy here is valid: it lost them. Others it has, newer. */
  async lost(requests: readonly AdmissionRequest[], verdicts: readonly Verdict[]): Promise<readonly number[]> {
    this.#stores.durable.resetReadTxn();
    const indexes = [...verdicts.keys()].filter((n) => isUnknown(verdicts[n]) && this.#isValid(requests[n]!));
    const found = new Map<string, Cached>();
    await Promise.all(
      [...new Set(indexes.map((n) => idOf(requests[n]!)))].map(async (id) => {
        const read = await this.#ask(id);
        if (read && read.record.version >= (this.read(id)?.record.version ?? Infinity)) found.set(id, read);
      }),
    );
    await this.#write(found);
    return indexes.filter((n) => !found.has(idOf(requests[n]!)));
  }

  #isValid({ subject }: AdmissionRequest): boolean {
    const cached = subject.kind === 'key' ? this.key(subject.id) : undefined;
    return subject.kind === 'key' && cached !== undefined && !whyInvalid(cached.record, subject.secretHash, Date.now());
  }

  /** Reads keys and customers of which there is no copy yet, or one that is old or of another version. */
  async refresh(): Promise<void> {
    this.#stores.durable.resetReadTxn();
    const due = this.verdicts.takeDue(READ_AT_ONCE).filter((id) => !this.#isCurrent(id));
    for (const id of await this.#fetch(due)) this.verdicts.due(id);
  }

  /** Of a customer no verdict says the version. */
  #isCurrent(id: string): boolean {
    const cached = this.read(id);
    if (cached === undefined || Math.abs(Date.now() - cached.seenAtMs) > RENEW_MS / 2) return false;
    return isCustomer(id) || cached.record.version === this.verdicts.of(id)?.verdict.recordVersion;
  }

  /**
   * Somebody changed these keys or customers: what was seen of them is over, also where it can't be seen what they are
   * now.
   */
  async changed(ids: readonly string[]): Promise<void> {
    for (const id of ids) this.verdicts.forget(id);
    this.#stores.durable.resetReadTxn();
    const unread = await this.#fetch(ids.filter((id) => this.read(id) !== undefined));
    await this.#write(new Map(unread.map((id) => [id, null])));
  }

  /** Removes some that are too old; goes on from there at the next call. */
  async sweep(): Promise<void> {
    const { durable } = this.#stores;
    await inTransaction(this.#stores, () => {
      this.#sweptTo = removeSome(durable, 'c', this.#sweptTo, (bytes) => !isFresh(decoded(bytes)));
    });
  }

  /** Caches these keys and customers as Redis has them now; gives those that could not be read. */
  async #fetch(ids: readonly string[]): Promise<readonly string[]> {
    const unread: string[] = [];
    for (let from = 0; from < ids.length; from += READ_AT_ONCE) {
      const found = new Map<string, Cached>();
      await Promise.all(
        ids.slice(from, from + READ_AT_ONCE).map(async (id) => {
          const read = await this.#ask(id);
          if (read === undefined) unread.push(id);
          // No key ever goes: a store without it has lost it.
          else if (read !== null) found.set(id, read);
        }),
      );
      await this.#write(found);
    }
    return unread;
  }

  /** null: there is no such key, or customer. undefined: Redis did not answer. */
  async #ask(id: string): Promise<Cached | null | undefined> {
    const { keys, customers, bans } = this.#redis;
    const seenAtMs = Date.now();
    try {
      if (isCustomer(id)) {
        const record = await customers.read(id);
        return record === undefined ? null : { seenAtMs, record: { ...nameless(record), reference: '' } };
      }
      const [record, ban] = await Promise.all([keys.read(id), bans.read(id)]);
      if (record === undefined) return null;
      return { seenAtMs, record: nameless(record), ban: ban ? { untilMs: ban.untilMs, level: ban.level } : null };
    } catch (error) {
      if (error instanceof StoreUnavailable) return undefined;
      throw error;
    }
  }

  /**
   * Writes keys and customers, and forgets those that are null, in one step. Of a record older than the one that is
   * there nothing stays: either it was read late, or Redis lost its data; the key is read anew when it is seen.
   */
  async #write(all: ReadonlyMap<string, Cached | null>): Promise<void> {
    if (all.size === 0) return;
    const { durable, durableCapacity } = this.#stores;
    await inTransaction(this.#stores, () => {
      durableCapacity.claim();
      for (const [id, one] of all) {
        if (one === null || (this.read(id)?.record.version ?? 0) > one.record.version)
          durable.removeSync(cachedKeyRow(id));
        else durable.putSync(cachedKeyRow(id), Buffer.from(JSON.stringify(one)));
      }
    });
  }
}

function isCustomer(id: string): boolean {
  return id.length === CUSTOMER_ID_LENGTH;
}

function idOf({ subject }: AdmissionRequest): string {
  return subject.kind === 'key' ? subject.id : '';
}

/** No copy says who somebody is: nobody asks that here, and it could not be erased on a gateway that is cut off. */
function nameless<T extends Cached['record']>(record: T): T {
  const { grants } = record;
  const bare = { ...record, name: '', note: '' };
  return grants === undefined ? bare : { ...bare, grants: grants.map((grant) => ({ ...grant, note: '' })) };
}

function decoded(bytes: Buffer): Cached {
  return JSON.parse(bytes.toString()) as Cached;
}

function isFresh({ seenAtMs }: Cached): boolean {
  return Math.abs(Date.now() - seenAtMs) < FRESH_MS;
}
