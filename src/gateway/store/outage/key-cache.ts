import { CUSTOMER_ID_LENGTH, customerOf, payerOf } from '../records/customer-id.js';
import type { CustomerRecord } from '../records/customer.js';
import type { KeyRecord } from '../records/key.js';
import { DAY_MS } from '../../admission/bucket.js';
import { rangeOf } from '../embedded/files/rows.js';
import type { Stores } from '../embedded/files/stores.js';
import { removeSome } from '../embedded/sweep.js';
import { inTransaction } from '../embedded/files/errors.js';
import type { RedisEngine } from '../redis/engine.js';
import { StoreUnavailable } from '../../admission/port.js';
import type { AdmissionRequest, Subject } from '../../admission/port.js';
import { isUnknown } from '../redis/trust/doubt.js';
import { unfitness } from '../embedded/records/verifier.js';
import type { Verdict } from '../../admission/verdict.js';
import { LastVerdicts, RENEW_MS } from './last-verdicts.js';
import type { LastVerdict } from './last-verdicts.js';

/**
 * A key as Redis had it at `seenAtMs`. That is this machine's clock, which may have been set since: further
 * than `GOOD_MS` from now, on either side, it says nothing any more. Which of two is newer, `record.version` says.
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
type Asked = Pick<RedisEngine, 'keys' | 'customers' | 'bans'>;

const GOOD_MS = DAY_MS;
/** Records read at once. With the pause between two refreshes it bounds what the cache costs Redis. */
const READ_AT_ONCE = 64;

/** Of a key or a customer: their ids differ in length. */
export const cachedKeyRow = (id: string): string => `c${id}`;

/**
 * What is known here of each key that Redis decided about, for the time when it can't be asked: its record, on
 * disk and shared by all processes of the machine, and the last verdict that this process saw.
 */
export class KeyCache {
  readonly #stores: Stores;
  readonly #redis: Asked;
  readonly #verdicts = new LastVerdicts();
  #sweptTo = cachedKeyRow('');

  constructor(stores: Stores, redis: Asked) {
    this.#stores = stores;
    this.#redis = redis;
  }

  /** Redis decided so. */
  note(requests: readonly AdmissionRequest[], verdicts: readonly (Verdict | undefined)[]): void {
    this.#verdicts.note(requests, verdicts);
  }

  lastVerdict(keyId: string): Readonly<LastVerdict> | undefined {
    return this.#verdicts.of(keyId);
  }

  /** The last verdict about any key of a customer. */
  lastVerdictOfCustomer(customerId: string): Readonly<LastVerdict> | undefined {
    return this.#verdicts.ofCustomer(customerId);
  }

  /** Keys whose last verdict this process saw. */
  decidedKeyIds(): readonly string[] {
    return this.#verdicts.keyIds();
  }

  /** As others wrote it until now, when the caller has begun a new read (`resetReadTxn`). */
  read(keyId: string): CachedKey | undefined {
    return this.#read(keyId) as CachedKey | undefined;
  }

  /** The record in which plan and limits of a key stand: its customer's, where it has one; also of a customer itself. */
  holder(id: string): KeyRecord | CustomerRecord | undefined {
    const customerId = id.length === CUSTOMER_ID_LENGTH ? id : customerOf(id);
    return customerId === null ? this.read(id)?.record : this.customer(customerId);
  }

  customer(customerId: string): CustomerRecord | undefined {
    return this.#customer(customerId)?.record;
  }

  isEmpty(): boolean {
    const { durable } = this.#stores;
    durable.resetReadTxn();
    return [...durable.getKeys({ ...rangeOf('c'), limit: 1 })].length === 0;
  }

  /** Places of keys that Redis knows not, though their record here is good: where it lost them. Others it has, newer. */
  async lost(requests: readonly AdmissionRequest[], verdicts: readonly Verdict[]): Promise<readonly number[]> {
    this.#stores.durable.resetReadTxn();
    const places = [...verdicts.keys()].filter(
      (place) => isUnknown(verdicts[place]) && this.#isGood(requests[place]!.subject),
    );
    const ids = new Set(places.map((place) => idOf(requests[place]!)));
    const kept = new Set<string>();
    await Promise.all(
      [...ids].map(async (id) => {
        const [cached, found] = [this.read(id), await this.#ask(id)];
        if (
          found === null ||
          found === undefined ||
          cached === undefined ||
          found.record.version < cached.record.version
        )
          return;
        await this.#write(new Map([[id, found]]));
        kept.add(id);
      }),
    );
    return places.filter((place) => !kept.has(idOf(requests[place]!)));
  }

  #isGood(subject: Subject): boolean {
    const cached = subject.kind === 'key' ? this.read(subject.id) : undefined;
    return subject.kind === 'key' && cached !== undefined && !unfitness(cached.record, subject.secretHash, Date.now());
  }

  /** Reads keys that are new or changed, with their customers, and those refused that are good by what is cached. */
  async refresh(): Promise<void> {
    this.#stores.durable.resetReadTxn();
    const refused = this.#verdicts
      .takeRefused()
      .filter((keyId) => this.read(keyId) !== undefined)
      .slice(0, READ_AT_ONCE);
    const stale = new Set(refused.flatMap((keyId) => [keyId, payerOf(keyId)]));
    const renewed = new Map<string, CachedKey>();
    for (const keyId of this.#verdicts.takeDue(READ_AT_ONCE)) {
      const customerId = keyId.length === CUSTOMER_ID_LENGTH ? keyId : customerOf(keyId);
      if (customerId !== null && this.#isOld(customerId)) stale.add(customerId);
      if (customerId === keyId) continue;
      const key = this.#asLastSeen(keyId);
      if (key === undefined) stale.add(keyId);
      else if (Math.abs(Date.now() - key.seenAtMs) > RENEW_MS / 2) renewed.set(keyId, { ...key, seenAtMs: Date.now() });
    }
    await this.#write(renewed);
    for (const keyId of await this.#fetch([...stale])) this.#verdicts.due(keyId);
  }

  /** Somebody changed these keys or customers: what was seen of them is over, also where it can't be seen what they are now. */
  async changed(ids: readonly string[]): Promise<void> {
    for (const id of ids) this.#verdicts.forget(id);
    this.#stores.durable.resetReadTxn();
    const unread = await this.#fetch(ids.filter((id) => this.#read(id) !== undefined));
    await this.#write(new Map(unread.map((id) => [id, null])));
  }

  /** Removes some that are too old; goes on from there at the next call. */
  async sweep(): Promise<void> {
    const { durable } = this.#stores;
    await inTransaction(this.#stores, () => {
      this.#sweptTo = removeSome(durable, 'c', this.#sweptTo, (bytes) => !isGood(decoded(bytes)));
    });
  }

  /** Caches these keys and customers as Redis has them now; gives those that could not be read. */
  async #fetch(ids: readonly string[]): Promise<readonly string[]> {
    const unread: string[] = [];
    for (let from = 0; from < ids.length; from += READ_AT_ONCE) {
      const found = new Map<string, Cached | null>();
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
    try {
      return await (id.length === CUSTOMER_ID_LENGTH ? this.#askCustomer(id) : this.#askKey(id));
    } catch (error) {
      if (error instanceof StoreUnavailable) return undefined;
      throw error;
    }
  }

  async #askKey(keyId: string): Promise<CachedKey | null> {
    const seenAtMs = Date.now();
    const [record, ban] = await Promise.all([this.#redis.keys.read(keyId), this.#redis.bans.read(keyId)]);
    if (record === undefined) return null;
    return {
      seenAtMs,
      record: nameless(record),
      ban: ban === undefined ? null : { untilMs: ban.untilMs, level: ban.level },
    };
  }

  async #askCustomer(customerId: string): Promise<CachedCustomer | null> {
    const seenAtMs = Date.now();
    const record = await this.#redis.customers.read(customerId);
    return record === undefined ? null : { seenAtMs, record: { ...nameless(record), reference: '' } };
  }

  #customer(customerId: string): CachedCustomer | undefined {
    return this.#read(customerId) as CachedCustomer | undefined;
  }

  /** What is cached under an id: a key, or a customer under its shorter one. */
  #read(id: string): Cached | undefined {
    const bytes = this.#stores.durable.getBinary(cachedKeyRow(id));
    const cached = bytes && decoded(bytes);
    return cached !== undefined && isGood(cached) ? cached : undefined;
  }

  /** No verdict says of which version a customer's record was, so that it is read anew where a key's is only renewed. */
  #isOld(customerId: string): boolean {
    const customer = this.#customer(customerId);
    return customer === undefined || Math.abs(Date.now() - customer.seenAtMs) > RENEW_MS / 2;
  }

  /** What is cached, with the ban last seen, when its record is the one that the last verdict was made by. */
  #asLastSeen(keyId: string): CachedKey | undefined {
    const key = this.read(keyId);
    const verdict = this.lastVerdict(keyId)?.verdict;
    if (key === undefined || key.record.version !== verdict?.recordVersion) return undefined;
    return {
      ...key,
      ban: verdict.outcome === 'banned' ? { untilMs: verdict.bannedUntilMs, level: verdict.level } : null,
    };
  }

  /**
   * Writes keys and customers, and forgets those that are null, in one step. Of a record older than the one that is there
   * nothing stays: either it was read late, or Redis lost its data; the key is read anew when it is seen.
   */
  async #write(all: ReadonlyMap<string, Cached | null>): Promise<void> {
    if (all.size === 0) return;
    const { durable, durableCapacity } = this.#stores;
    await inTransaction(this.#stores, () => {
      durableCapacity.claim();
      for (const [id, one] of all) {
        if (one === null || (this.#read(id)?.record.version ?? 0) > one.record.version)
          durable.removeSync(cachedKeyRow(id));
        else durable.putSync(cachedKeyRow(id), Buffer.from(JSON.stringify(one)));
      }
    });
  }
}

function idOf({ subject }: AdmissionRequest): string {
  return subject.kind === 'key' ? subject.id : '';
}

/** No copy says who somebody is: nobody asks that here, and it could not be erased on a gateway that is away. */
function nameless<T extends CachedKey['record'] | CachedCustomer['record']>(record: T): T {
  const { grants } = record;
  const bare = { ...record, name: '', note: '' };
  return grants === undefined ? bare : { ...bare, grants: grants.map((grant) => ({ ...grant, note: '' })) };
}

function decoded(bytes: Buffer): Cached {
  return JSON.parse(bytes.toString()) as Cached;
}

function isGood({ seenAtMs }: Cached): boolean {
  return Math.abs(Date.now() - seenAtMs) < GOOD_MS;
}
