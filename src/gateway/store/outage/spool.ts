import { DAY_MS, SETTLE_MS } from '../../admission/bucket.js';
import { addCounts, noCounts, type Counts } from '../records/counts.js';
import { dayOf } from '../../../shared/utc-day.js';
import { ALL_DAYS } from '../embedded/ledger/day-ledger.js';
import { SEPARATOR } from '../embedded/files/rows.js';
import { inTransaction, reading } from '../embedded/files/errors.js';
import type { Stores } from '../embedded/stores.js';
import { awaitedBans, forgetAwaited } from '../embedded/journal/ban-history.js';
import type { EmbeddedEngine } from '../embedded/engine.js';
import type { RedisEngine } from '../redis/engine.js';
import type { UsageCounts, UsageRow } from '../records/counts.js';
import type { AcknowledgedCounts } from './acknowledged.js';
import type { CachedKeyVerifier } from './verifier.js';

/** Calls under way at once: few enough that each keeps its deadline. */
const SENT_AT_ONCE = 16;

/** A row of the ledger here, and what Redis lacks of it. */
interface Waiting {
  readonly row: UsageRow;
  readonly missing: UsageCounts;
}

interface SpoolParts {
  readonly stores: Stores;
  /** Where it is counted, each operation with the id of the gateway that counted behind it. */
  readonly usage: EmbeddedEngine['usage'];
  readonly verifier: Pick<CachedKeyVerifier, 'wholeTerms'>;
  readonly redis: Pick<RedisEngine, 'fleet'>;
  readonly acknowledged: AcknowledgedCounts;
  /** The store's clock, as last known. */
  readonly now: () => number;
  /** Shares of its limits that a plan warns of; undefined without events. */
  readonly warnAt: (plan: string) => readonly number[] | undefined;
}

/**
 * What was counted here and is still to come into Redis: the ledger of the local engine, less what Redis acknowledged.
 * The ledger only grows and Redis subtracts what it took before from the same gateway, so that sending it may break off
 * anywhere, be repeated, and be done by several processes at once, and of copies of the folder.
 */
export class Spool {
  readonly #parts: SpoolParts;
  #pending = 0;
  #openDay: number | null = null;

  constructor(parts: SpoolParts) {
    this.#parts = parts;
  }

  /** Admitted requests that Redis does not have, as last counted. */
  get pending(): number {
    return this.#pending;
  }

  /** All counts of days before it are in Redis, days since 1970-01-01; null before the first replay. */
  get openDay(): number | null {
    return this.#openDay;
  }

  /** What was counted here, whichever gateway it was. */
  async *usage(from: string, to: string, keyId?: string): AsyncGenerator<readonly UsageRow[]> {
    for await (const rows of this.#parts.usage.rows(from, to, keyId)) {
      const sums = new Map<string, UsageRow & Counts>();
      for (const row of rows) {
        const { operation } = counted(row);
        const name = [row.day, row.key, row.plan, operation].join(SEPARATOR);
        const sum = sums.get(name);
        if (sum === undefined) sums.set(name, { ...row, operation });
        else addCounts(sum, row);
      }
      yield [...sums.values()];
    }
  }

  /** Recounts `pending`. */
  async measure(): Promise<void> {
    let pending = 0;
    for await (const { missing } of this.#waiting()) pending += missing.requests;
    this.#pending = pending;
  }

  /**
   * Brings all that was counted before the call into Redis; gives what that was. Rejects with StoreUnavailable, and may
   * then be called again.
   */
  async replay(): Promise<UsageCounts> {
    // The earlier of two clocks: a row must not be forgotten here while Redis remembers it. New counts would start
    // from 0, and Redis would take them for those that it has.
    const beganMs = Math.min(Date.now(), await this.#parts.redis.fleet.nowMs());
    const sum = noCounts();
    let batch = new Map<string, Waiting[]>();
    for await (const one of this.#waiting()) {
      const name = one.row.key + counted(one.row).by;
      if (!batch.has(name) && batch.size === SENT_AT_ONCE) {
        await this.#send(batch, sum);
        batch = new Map();
      }
      batch.set(name, [...(batch.get(name) ?? []), one]);
    }
    await this.#send(batch, sum);
    await this.#sendBans();
    this.#pending = 0;
    // Days before yesterday get no counts any more: once in Redis, they are over.
    await this.#parts.acknowledged.forgetBefore(dayOf(beganMs - 2 * DAY_MS));
    // Of a day that ended longer ago nothing is under way any more, in no process of this machine.
    this.#openDay = Math.floor((beganMs - SETTLE_MS) / DAY_MS);
    return sum;
  }

  /** The rows Redis lacks something of, whatever days they are of: clocks may have been anywhere. */
  async *#waiting(): AsyncGenerator<Waiting> {
    const { usage, acknowledged } = this.#parts;
    for await (const rows of usage.rows(...ALL_DAYS)) {
      for (const row of rows) {
        const missing = acknowledged.missing(row);
        if (missing !== null) yield { row, missing };
      }
    }
  }

  /** @param batch by key and by who counted */
  async #send(batch: ReadonlyMap<string, readonly Waiting[]>, sum: Counts): Promise<void> {
    const { redis, acknowledged, verifier, warnAt, now } = this.#parts;
    const sent = [...batch.values()].flat();
    if (sent.length === 0) return;
    await Promise.all(
      [...batch.values()].map((waiting) => {
        const [{ row }] = waiting as [Waiting];
        const terms = verifier.wholeTerms(row.key, now());
        return redis.fleet.take(counted(row).by, {
          keyId: row.key,
          rows: waiting.map(({ row }) => ({
            ...row,
            operation: counted(row).operation,
            acknowledged: acknowledged.of(row),
          })),
          terms,
          warnAt: terms && warnAt(terms.plan),
        });
      }),
    );
    await acknowledged.acknowledge(sent.map(({ row }) => row));
    for (const { missing } of sent) addCounts(sum, missing);
  }

  /** Bans that began here, for the history of their keys: reading the counts has brought them into `durable`. */
  async #sendBans(): Promise<void> {
    const { stores, redis } = this.#parts;
    for (;;) {
      const bans = await reading(stores, (durable) => awaitedBans(durable, SENT_AT_ONCE));
      if (bans.length === 0) return;
      await Promise.all(bans.map(({ keyId, entry }) => redis.fleet.takeBan(keyId, entry)));
      await inTransaction(stores, () => forgetAwaited(stores.durable, bans));
    }
  }
}

/** What a row is about, and the id of the gateway that counted it. */
function counted({ operation: name }: UsageRow): { readonly operation: string; readonly by: string } {
  const [operation = '', by = ''] = name.split(SEPARATOR);
  return { operation, by };
}
