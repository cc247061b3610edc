import type { RedisEngine } from '../engines/redis/engine.js';
import { StoreUnavailable } from '../port.js';
import type { Copies, Copy } from './copies.js';
import { RENEW_MS } from './met.js';
import type { Met } from './met.js';

/** Records read at once. With the pause between two rounds it bounds what copying costs Redis. */
const READ_AT_ONCE = 64;

/** Keeps the copies as Redis has the keys. */
export class Learner {
  readonly #redis: Pick<RedisEngine, 'keys' | 'bans'>;
  readonly #copies: Copies;
  readonly #met: Met;

  constructor(redis: Pick<RedisEngine, 'keys' | 'bans'>, copies: Copies, met: Met) {
    this.#redis = redis;
    this.#copies = copies;
    this.#met = met;
  }

  /** One round: copies keys that are new or changed, and looks again at those refused that a copy calls good. */
  async learn(): Promise<void> {
    this.#copies.renew();
    const doubtful = this.#met.takeDoubtful().filter((keyId) => this.#copies.read(keyId) !== undefined).slice(0, READ_AT_ONCE);
    const kept = new Map<string, Copy>();
    const unlike: string[] = [];
    for (const keyId of this.#met.takeDue(READ_AT_ONCE)) {
      const copy = this.#asMet(keyId);
      if (copy === undefined) unlike.push(keyId);
      else if (Math.abs(Date.now() - copy.seenAtMs) > RENEW_MS / 2) kept.set(keyId, { ...copy, seenAtMs: Date.now() });
    }
    if (kept.size > 0) await this.#copies.write(kept);
    this.#met.giveBack(await this.#renew([...new Set([...doubtful, ...unlike])]));
  }

  /** Keys that somebody changed: what was seen of them is over, also where it can't be seen what they are now. */
  async changed(keyIds: readonly string[]): Promise<void> {
    for (const keyId of keyIds) this.#met.forget(keyId);
    this.#copies.renew();
    const unread = await this.#renew(keyIds.filter((keyId) => this.#copies.read(keyId) !== undefined));
    if (unread.length > 0) await this.#copies.write(new Map(unread.map((keyId) => [keyId, null])));
  }

  /** Makes the copies of these keys anew; gives those that could not be read. */
  async #renew(keyIds: readonly string[]): Promise<readonly string[]> {
    const unread: string[] = [];
    for (let from = 0; from < keyIds.length; from += READ_AT_ONCE) {
      const some = keyIds.slice(from, from + READ_AT_ONCE);
      const found = new Map<string, Copy | null>();
      await Promise.all(some.map(async (keyId) => {
        const copy = await this.#copyOf(keyId);
        if (copy === undefined) unread.push(keyId);
        else found.set(keyId, copy);
      }));
      if (found.size > 0) await this.#copies.write(found);
    }
    return unread;
  }

  /** null: there is no such key. undefined: Redis did not tell. */
  async #copyOf(keyId: string): Promise<Copy | null | undefined> {
    const seenAtMs = Date.now();
    try {
      const [record, ban] = await Promise.all([this.#redis.keys.read(keyId), this.#redis.bans.read(keyId)]);
      return record === undefined ? null : { seenAtMs, record, ban: ban === undefined ? null : { untilMs: ban.untilMs, level: ban.level } };
    } catch (error) {
      if (error instanceof StoreUnavailable) return undefined;
      throw error;
    }
  }

  /** The copy there is, with the ban last seen, when its record is the one that the last verdict was made by. */
  #asMet(keyId: string): Copy | undefined {
    const copy = this.#copies.read(keyId);
    const verdict = this.#met.seen(keyId)?.verdict;
    if (copy === undefined || verdict === undefined || copy.record.version !== verdict.recordVersion) return undefined;
    return { ...copy, ban: verdict.outcome === 'banned' ? { untilMs: verdict.bannedUntilMs, level: verdict.level } : null };
  }
}
