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

  /** One round: copies keys that are new or due, and looks again at those refused that a copy calls good. Rejects with StoreUnavailable. */
  async learn(): Promise<void> {
    this.#copies.renew();
    const doubtful = this.#met.takeDoubtful().filter((keyId) => this.#copies.read(keyId) !== undefined);
    const due = this.#met.takeDue(READ_AT_ONCE).filter((keyId) => !this.#isFresh(keyId));
    const keyIds = [...new Set([...doubtful, ...due])];
    try {
      await this.renew(keyIds);
    } catch (error) {
      if (error instanceof StoreUnavailable) this.#met.giveBack(keyIds);
      throw error;
    }
  }

  /** Keys that somebody changed: what was seen of them is over. */
  async changed(keyIds: readonly string[]): Promise<void> {
    for (const keyId of keyIds) this.#met.forget(keyId);
    this.#copies.renew();
    await this.renew(keyIds.filter((keyId) => this.#copies.read(keyId) !== undefined));
  }

  /** Makes the copies of these keys anew. */
  async renew(keyIds: readonly string[]): Promise<void> {
    for (let from = 0; from < keyIds.length; from += READ_AT_ONCE) {
      const some = keyIds.slice(from, from + READ_AT_ONCE);
      await this.#copies.write(new Map(await Promise.all(some.map(async (keyId) => [keyId, await this.#copyOf(keyId)] as const))));
    }
  }

  async #copyOf(keyId: string): Promise<Copy | null> {
    const seenAtMs = Date.now();
    const [record, ban] = await Promise.all([this.#redis.keys.read(keyId), this.#redis.bans.read(keyId)]);
    return record === undefined ? null : { seenAtMs, record, ban: ban === undefined ? null : { untilMs: ban.untilMs, level: ban.level } };
  }

  /** Another process of the machine copied it a moment ago. */
  #isFresh(keyId: string): boolean {
    const copy = this.#copies.read(keyId);
    return copy !== undefined && Date.now() - copy.seenAtMs < RENEW_MS / 2;
  }
}
