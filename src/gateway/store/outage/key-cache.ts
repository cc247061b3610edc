import { customerOf, isCustomer, payerOf } from '../records/customer-id.js';
import type { CustomerRecord } from '../records/customer.js';
import type { KeyRecord } from '../records/key.js';
import { rangeOf } from '../embedded/files/rows.js';
import type { Stores } from '../embedded/owner/stores.js';
import { removeSome } from '../embedded/sweep.js';
import { inTransaction } from '../embedded/files/errors.js';
import type { RedisEngine } from '../redis/engine.js';
import { StoreUnavailable, type AdmissionRequest } from '../../admission/port.js';
import { isUnknown } from '../redis/trust/doubt.js';
import { whyInvalid } from '../embedded/records/verifier.js';
import type { Verdict } from '../../admission/verdict.js';
import {
  cachedKeyRow,
  decoded,
  expired,
  isFresh,
  isOver,
  redacted,
  type Cached,
  type CachedCustomer,
  type CachedKey,
} from './cached.js';
import { VersionConflict } from '../records/conflicts.js';
import { LastVerdicts, RENEW_MS } from './last-verdicts.js';
import { lacksRestriction, writeBack } from './write-back.js';

/** Records read at a time. Together with the pause between refreshes, bounds the load on Redis. */
const READ_AT_ONCE = 64;
const KNOWN_BY = 1_000;

/** Keeps, for outages, the record (on disk) and the last verdict of each key that Redis has decided. */
export class KeyCache {
  readonly verdicts: LastVerdicts;
  readonly #stores: Stores;
  readonly #redis: RedisEngine;
  readonly #now: () => number;
  #sweptTo = cachedKeyRow('');

  /** @param now the last known time of the store's clock */
  constructor(stores: Stores, redis: RedisEngine, now: () => number) {
    this.#now = now;
    this.verdicts = new LastVerdicts(redis.restored.losses);
    this.#stores = stores;
    this.#redis = redis;
    redis.restored.writeBackBy((engine) => this.#writeBackTo(engine));
  }

  key(keyId: string): CachedKey | undefined {
    return this.read(keyId) as CachedKey | undefined;
  }

  customer(customerId: string): CustomerRecord | undefined {
    return (this.read(customerId) as CachedCustomer | undefined)?.record;
  }

  /** Returns the copy of a key or customer; undefined if there is none to decide by. */
  read(id: string): Cached | undefined {
    const cached = this.#held(id);
    return cached !== undefined && isFresh(cached) ? cached : undefined;
  }

  /** Includes copies too old to decide by, which may still be newer than Redis's record. */
  #held(id: string): Cached | undefined {
    const bytes = this.#stores.durable.getBinary(cachedKeyRow(id));
    return bytes && decoded(bytes);
  }

  /** Returns the record with the plan and limits of a key or customer: for a customer's key, the customer's. */
  holder(id: string): KeyRecord | CustomerRecord | undefined {
    return this.read(payerOf(id))?.record;
  }

  /** Returns whether there is a copy to decide by. Looks at the first thousand only: IDs are random. */
  knowsAny(): boolean {
    const { durable } = this.#stores;
    for (const { value } of durable.getRange({ ...rangeOf('c'), limit: KNOWN_BY }))
      if (isFresh(decoded(value))) return true;
    return false;
  }

  /** Returns the indexes of keys that Redis lost: it does not know them, but the local copy is valid. */
  async lost(requests: readonly AdmissionRequest[], verdicts: readonly Verdict[]): Promise<readonly number[]> {
    const indexes = [...verdicts.keys()].filter((n) => isUnknown(verdicts[n]) && this.#isValid(requests[n]!));
    const found = new Map<string, Cached>();
    await Promise.all(
      [...new Set(indexes.map((n) => idOf(requests[n]!)))].map(async (id) => {
        const read = await this.#ask(id);
        if (read) found.set(id, read);
      }),
    );
    const older = new Set(await this.#write(found));
    await this.older([...older]);
    return indexes.filter((n) => !found.has(idOf(requests[n]!)) || older.has(idOf(requests[n]!)));
  }

  /** Returns the indexes of verdicts that are, or may be, based on a record older than the local copy. */
  async stale(
    requests: readonly AdmissionRequest[],
    verdicts: readonly (Verdict | undefined)[],
    indexes: readonly number[],
  ): Promise<readonly number[]> {
    const idsAt = new Map<number, readonly string[]>();
    for (const index of indexes) {
      const [id, verdict] = [idOf(requests[index]!), verdicts[index]];
      const version = verdict?.outcome === 'unknown_key' ? null : (verdict?.recordVersion ?? null);
      const isOlder = (this.#held(id)?.record.version ?? 0) > (version ?? Infinity);
      // Verdicts do not contain the version of the customer.
      const customerId = customerOf(id);
      const ids = [...(isOlder ? [id] : []), ...(customerId !== null && this.#held(customerId) ? [customerId] : [])];
      if (ids.length > 0) idsAt.set(index, ids);
    }
    if (idsAt.size === 0) return [];
    const older = new Set(await this.older([...new Set([...idsAt.values()].flat())]));
    return [...idsAt.keys()].filter((index) => idsAt.get(index)!.some((id) => older.has(id)));
  }

  /**
   * Returns the IDs whose record in Redis is, or may be, older than the local copy. If that restores removed rights,
   * Redis counts as restored to an older state; other losses are written back.
   */
  async older(ids: readonly string[]): Promise<readonly string[]> {
    const older: string[] = [];
    const known = ids.filter((id) => this.#held(id) !== undefined);
    await Promise.all(
      known.map(async (id) => {
        const read = await this.#ask(id);
        const copy = this.#held(id);
        if (copy === undefined || read === null) return;
        if (read === undefined || read.record.version < copy.record.version) older.push(id);
        if (read === undefined || read.record.version >= copy.record.version) return;
        const isProof = copy.isLost !== true && lacksRestriction(read.record, copy);
        await (isProof ? this.#redis.restored.doubt(id) : writeBack(this.#redis, id, copy)).catch(unlessUnavailable);
      }),
    );
    return older;
  }

  /** Writes newer local data back into a restored Redis, before it is trusted. */
  async #writeBackTo(engine: RedisEngine): Promise<void> {
    const { durable } = this.#stores;
    let last = cachedKeyRow('');
    for (let isMore = true; isMore;) {
      const range = { start: last, end: rangeOf('c').end, limit: READ_AT_ONCE, exclusiveStart: true };
      const rows = [...durable.getRange(range)].map(({ key, value }) => ({ key, copy: decoded(value) }));
      const lost = new Map<string, Cached>();
      await Promise.all(
        rows.map(async ({ key, copy }) => {
          const id = key.slice(1);
          if (!(await writeBack(engine, id, this.#withBan(id, copy)))) lost.set(id, { ...copy, isLost: true });
        }),
      );
      await this.#write(lost);
      last = rows.at(-1)?.key ?? last;
      isMore = rows.length === READ_AT_ONCE;
    }
  }

  /** Adds an automatic ban that started after the copy was read, as shown by the last verdict. */
  #withBan(id: string, copy: Cached): Cached {
    const verdict = this.verdicts.of(id)?.verdict;
    if (!('ban' in copy) || verdict?.outcome !== 'banned') return copy;
    return { ...copy, ban: { untilMs: verdict.bannedUntilMs, level: verdict.level } };
  }

  #isValid({ subject }: AdmissionRequest): boolean {
    if (subject.kind !== 'key') return false;
    const record = this.key(subject.id)?.record;
    return record !== undefined && whyInvalid(record, subject.secretHash, this.#now()) === undefined;
  }

  /** Copies the keys and customers that are due, unless their copy is recent and of the same version. */
  async refresh(): Promise<void> {
    const due = this.verdicts.takeDue(READ_AT_ONCE).filter((id) => !this.#isCurrent(id));
    for (const id of await this.#fetch(due)) this.verdicts.due(id);
  }

  /** Verdicts do not contain the version of a customer. */
  #isCurrent(id: string): boolean {
    const cached = this.read(id);
    if (cached === undefined || Math.abs(Date.now() - cached.seenAtMs) > RENEW_MS / 2) return false;
    return isCustomer(id) || cached.record.version === this.verdicts.of(id)?.verdict.recordVersion;
  }

  /** Copies changed keys and customers again; those that cannot be read are no longer decided by. */
  async changed(ids: readonly string[]): Promise<void> {
    for (const id of ids) this.verdicts.forget(id);
    // Also those never seen here: a known revocation survives a Redis that loses it.
    await this.#expire(await this.#fetch(ids));
  }

  /** Deletes some that are too old; continues from there at the next call. */
  async sweep(): Promise<void> {
    const { durable } = this.#stores;
    await inTransaction(this.#stores, () => {
      this.#sweptTo = removeSome(durable, 'c', this.#sweptTo, (bytes) => isOver(decoded(bytes)));
    });
  }

  /** Copies these keys and customers from Redis; returns those that could not be read. */
  async #fetch(ids: readonly string[]): Promise<readonly string[]> {
    const unread: string[] = [];
    for (let from = 0; from < ids.length; from += READ_AT_ONCE) {
      const found = new Map<string, Cached>();
      await Promise.all(
        ids.slice(from, from + READ_AT_ONCE).map(async (id) => {
          const read = await this.#ask(id);
          if (read === undefined) unread.push(id);
          // Keys are never deleted: a store without it has lost it.
          else if (read !== null) found.set(id, read);
        }),
      );
      await this.older(await this.#write(found));
    }
    return unread;
  }

  /** Resolves to null if Redis has no such key or customer, to undefined if it did not respond. */
  async #ask(id: string): Promise<Cached | null | undefined> {
    const { keys, customers, bans } = this.#redis;
    const seenAtMs = Date.now();
    try {
      if (isCustomer(id)) {
        const record = await customers.read(id);
        return record === undefined ? null : { seenAtMs, record: { ...redacted(record), reference: '' } };
      }
      const [record, ban] = await Promise.all([keys.read(id), bans.read(id)]);
      if (record === undefined) return null;
      return { seenAtMs, record: redacted(record), ban: ban ? { untilMs: ban.untilMs, level: ban.level } : null };
    } catch (error) {
      if (error instanceof StoreUnavailable) return undefined;
      throw error;
    }
  }

  /** Stops deciding by these copies but keeps them: they may still prove that Redis was restored. */
  async #expire(ids: readonly string[]): Promise<void> {
    if (ids.length === 0) return;
    await inTransaction(this.#stores, () => {
      for (const id of ids) {
        const copy = this.read(id);
        if (copy !== undefined) this.#put(id, expired(copy));
      }
    });
  }

  #put(id: string, copy: Cached): void {
    this.#stores.durable.putSync(cachedKeyRow(id), Buffer.from(JSON.stringify(copy)));
  }

  /**
   * Writes keys and customers in one step, except those older than the copy: read late, or from a Redis that lost data.
   * Returns the IDs of these.
   */
  async #write(all: ReadonlyMap<string, Cached>): Promise<readonly string[]> {
    if (all.size === 0) return [];
    return inTransaction(this.#stores, () => {
      this.#stores.durableCapacity.claim();
      const older: string[] = [];
      for (const [id, one] of all) {
        if ((this.#held(id)?.record.version ?? 0) > one.record.version) older.push(id);
        else this.#put(id, one);
      }
      return older;
    });
  }
}

function idOf({ subject }: AdmissionRequest): string {
  return subject.kind === 'key' ? subject.id : '';
}

function unlessUnavailable(error: unknown): void {
  if (!(error instanceof StoreUnavailable) && !(error instanceof VersionConflict)) throw error;
}
