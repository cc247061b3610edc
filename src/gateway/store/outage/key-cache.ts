import { customerOf } from '../records/customer-id.js';
import type { CustomerRecord } from '../records/customer.js';
import type { KeyRecord } from '../records/key.js';
import { rangeOf } from '../embedded/files/rows.js';
import type { Stores } from '../embedded/files/stores.js';
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
  isCustomer,
  isFresh,
  isOver,
  nameless,
  type Cached,
  type CachedCustomer,
  type CachedKey,
} from './cached.js';
import { VersionConflict } from '../port.js';
import { LastVerdicts, RENEW_MS } from './last-verdicts.js';
import { lacksRestriction, writeBack } from './write-back.js';

/** Records read at once. With the pause between two refreshes it bounds what the cache costs Redis. */
const READ_AT_ONCE = 64;

/**
 * What is known here of each key that Redis decided about, for the time when it can't be asked: its record, on
 * disk, and the last verdict.
 */
export class KeyCache {
  readonly verdicts: LastVerdicts;
  readonly #stores: Stores;
  readonly #redis: RedisEngine;
  #sweptTo = cachedKeyRow('');

  readonly #now: () => number;

  /** @param now the store's clock, as last known */
  constructor(stores: Stores, redis: RedisEngine, now: () => number) {
    this.#now = now;
    this.verdicts = new LastVerdicts(redis.restored.losses);
    this.#stores = stores;
    this.#redis = redis;
    redis.restored.writeBackBy((engine) => this.#writeBackTo(engine));
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
    const cached = this.#held(id);
    return cached !== undefined && isFresh(cached) ? cached : undefined;
  }

  /** Also one that is too old to decide by: it may be newer than what Redis has. */
  #held(id: string): Cached | undefined {
    const bytes = this.#stores.durable.getBinary(cachedKeyRow(id));
    return bytes && decoded(bytes);
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
        if (read) found.set(id, read);
      }),
    );
    const older = new Set(await this.#write(found));
    await this.older([...older]);
    return indexes.filter((n) => !found.has(idOf(requests[n]!)) || older.has(idOf(requests[n]!)));
  }

  /** Of the verdicts at these indexes those by a record that is older than the copy here: Redis was restored. */
  async stale(
    requests: readonly AdmissionRequest[],
    verdicts: readonly (Verdict | undefined)[],
    indexes: readonly number[],
  ): Promise<readonly number[]> {
    this.#stores.durable.resetReadTxn();
    const idsAt = new Map<number, readonly string[]>();
    for (const index of indexes) {
      const [id, verdict] = [idOf(requests[index]!), verdicts[index]];
      const version = verdict?.outcome === 'unknown_key' ? null : (verdict?.recordVersion ?? null);
      const isOlder = (this.#held(id)?.record.version ?? 0) > (version ?? Infinity);
      // No verdict says of which version the customer was.
      const customerId = customerOf(id);
      const ids = [...(isOlder ? [id] : []), ...(customerId !== null && this.#held(customerId) ? [customerId] : [])];
      if (ids.length > 0) idsAt.set(index, ids);
    }
    if (idsAt.size === 0) return [];
    const older = new Set(await this.older([...new Set([...idsAt.values()].flat())]));
    return [...idsAt.keys()].filter((index) => idsAt.get(index)!.some((id) => older.has(id)));
  }

  /**
   * Those of which Redis has, or may have, an older record than the copy here. Where that allows again what was
   * forbidden, Redis counts as restored to an older state; what else it lost is written back.
   */
  async older(ids: readonly string[]): Promise<readonly string[]> {
    const older: string[] = [];
    this.#stores.durable.resetReadTxn();
    const known = ids.filter((id) => this.#held(id) !== undefined);
    await Promise.all(
      known.map(async (id) => {
        const read = await this.#ask(id);
        this.#stores.durable.resetReadTxn();
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

  /** Writes all that is known better here into a Redis that was restored, before it is trusted. */
  async #writeBackTo(engine: RedisEngine): Promise<void> {
    const { durable } = this.#stores;
    let last = cachedKeyRow('');
    for (let isMore = true; isMore;) {
      durable.resetReadTxn();
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

  /** With a ban that began by itself since the copy was read, as the last verdict says. */
  #withBan(id: string, copy: Cached): Cached {
    const verdict = this.verdicts.of(id)?.verdict;
    if (!('ban' in copy) || verdict?.outcome !== 'banned') return copy;
    return { ...copy, ban: { untilMs: verdict.bannedUntilMs, level: verdict.level } };
  }

  #isValid({ subject }: AdmissionRequest): boolean {
    const cached = subject.kind === 'key' ? this.key(subject.id) : undefined;
    return (
      subject.kind === 'key' && cached !== undefined && !whyInvalid(cached.record, subject.secretHash, this.#now())
    );
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
    // Also of those that nobody here met: what is known of a revocation outlives a Redis that loses it.
    await this.#expire(await this.#fetch(ids));
  }

  /** Removes some that are too old; goes on from there at the next call. */
  async sweep(): Promise<void> {
    const { durable } = this.#stores;
    await inTransaction(this.#stores, () => {
      this.#sweptTo = removeSome(durable, 'c', this.#sweptTo, (bytes) => isOver(decoded(bytes)));
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
      await this.older(await this.#write(found));
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

  /** No longer decides by these copies, but keeps them: they may still prove that Redis was restored. */
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
   * Writes keys and customers in one step. Of two records the newer stays: gives the ids of those that were older,
   * either read late, or of a Redis that lost its data.
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
