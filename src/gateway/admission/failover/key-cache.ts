import type { KeyRecord } from '../key-record.js';
import { DAY_MS } from '../bucket.js';
import { rangeOf } from '../engines/embedded/files/rows.js';
import type { Stores } from '../engines/embedded/files/stores.js';
import { removeSome } from '../engines/embedded/sweep.js';
import { inTransaction } from '../engines/embedded/files/errors.js';
import type { RedisEngine } from '../engines/redis/engine.js';
import { StoreUnavailable } from '../port.js';
import type { AdmissionRequest } from '../port.js';
import type { Verdict } from '../verdict.js';
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

const GOOD_MS = DAY_MS;
/** Records read at once. With the pause between two refreshes it bounds what the cache costs Redis. */
const READ_AT_ONCE = 64;

export const cachedKeyRow = (keyId: string): string => `c${keyId}`;

/**
 * What is known here of each key that Redis decided about, for the time when it can't be asked: its record, on
 * disk and shared by all processes of the machine, and the last verdict that this process saw.
 */
export class KeyCache {
  readonly #stores: Stores;
  readonly #redis: Pick<RedisEngine, 'keys' | 'bans'>;
  readonly #verdicts = new LastVerdicts();
  #sweptTo = cachedKeyRow('');

  constructor(stores: Stores, redis: Pick<RedisEngine, 'keys' | 'bans'>) {
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

  /** Keys whose last verdict this process saw. */
  decidedKeyIds(): readonly string[] {
    return this.#verdicts.keyIds();
  }

  /** As others wrote it until now, when the caller has begun a new read (`resetReadTxn`). */
  read(keyId: string): CachedKey | undefined {
    const bytes = this.#stores.durable.getBinary(cachedKeyRow(keyId));
    const key = bytes && decoded(bytes);
    return key !== undefined && isGood(key) ? key : undefined;
  }

  isEmpty(): boolean {
    const { durable } = this.#stores;
    durable.resetReadTxn();
    return [...durable.getKeys({ ...rangeOf('c'), limit: 1 })].length === 0;
  }

  /** Reads keys that are new or changed, and those refused that are good by what is cached. */
  async refresh(): Promise<void> {
    this.#stores.durable.resetReadTxn();
    const stale = new Set(
      this.#verdicts
        .takeRefused()
        .filter((keyId) => this.read(keyId) !== undefined)
        .slice(0, READ_AT_ONCE),
    );
    const renewed = new Map<string, CachedKey>();
    for (const keyId of this.#verdicts.takeDue(READ_AT_ONCE)) {
      const key = this.#asLastSeen(keyId);
      if (key === undefined) stale.add(keyId);
      else if (Math.abs(Date.now() - key.seenAtMs) > RENEW_MS / 2) renewed.set(keyId, { ...key, seenAtMs: Date.now() });
    }
    await this.#write(renewed);
    for (const keyId of await this.#fetch([...stale])) this.#verdicts.due(keyId);
  }

  /** Somebody changed these keys: what was seen of them is over, also where it can't be seen what they are now. */
  async changed(keyIds: readonly string[]): Promise<void> {
    for (const keyId of keyIds) this.#verdicts.forget(keyId);
    this.#stores.durable.resetReadTxn();
    const unread = await this.#fetch(keyIds.filter((keyId) => this.read(keyId) !== undefined));
    await this.#write(new Map(unread.map((keyId) => [keyId, null])));
  }

  /** Removes some that are too old; goes on from there at the next call. */
  async sweep(): Promise<void> {
    const { durable } = this.#stores;
    await inTransaction(this.#stores, () => {
      this.#sweptTo = removeSome(durable, 'c', this.#sweptTo, (bytes) => !isGood(decoded(bytes)));
    });
  }

  /** Caches these keys as Redis has them now; gives those that could not be read. */
  async #fetch(keyIds: readonly string[]): Promise<readonly string[]> {
    const unread: string[] = [];
    for (let from = 0; from < keyIds.length; from += READ_AT_ONCE) {
      const found = new Map<string, CachedKey | null>();
      await Promise.all(
        keyIds.slice(from, from + READ_AT_ONCE).map(async (keyId) => {
          const key = await this.#ask(keyId);
          if (key === undefined) unread.push(keyId);
          else found.set(keyId, key);
        }),
      );
      await this.#write(found);
    }
    return unread;
  }

  /** null: there is no such key. undefined: Redis did not answer. */
  async #ask(keyId: string): Promise<CachedKey | null | undefined> {
    const seenAtMs = Date.now();
    try {
      const [record, ban] = await Promise.all([this.#redis.keys.read(keyId), this.#redis.bans.read(keyId)]);
      return record === undefined
        ? null
        : { seenAtMs, record, ban: ban === undefined ? null : { untilMs: ban.untilMs, level: ban.level } };
    } catch (error) {
      if (error instanceof StoreUnavailable) return undefined;
      throw error;
    }
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
   * Writes keys, and forgets those that are null, in one step. Of a record older than the one that is there
   * nothing stays: either it was read late, or Redis lost its data; the key is read anew when it is seen.
   */
  async #write(keys: ReadonlyMap<string, CachedKey | null>): Promise<void> {
    if (keys.size === 0) return;
    const { durable, durableCapacity } = this.#stores;
    await inTransaction(this.#stores, () => {
      durableCapacity.claim();
      for (const [keyId, key] of keys) {
        if (key === null || (this.read(keyId)?.record.version ?? 0) > key.record.version)
          durable.removeSync(cachedKeyRow(keyId));
        else durable.putSync(cachedKeyRow(keyId), Buffer.from(JSON.stringify(key)));
      }
    });
  }
}

function decoded(bytes: Buffer): CachedKey {
  return JSON.parse(bytes.toString()) as CachedKey;
}

function isGood({ seenAtMs }: CachedKey): boolean {
  return Math.abs(Date.now() - seenAtMs) < GOOD_MS;
}
