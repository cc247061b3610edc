import { DAY_MS, SETTLE_MS } from '../../admission/bucket.js';
import { addCounts, COUNTS, noCounts, type Counts, type UsageCounts, type UsageRow } from '../records/counts.js';
import { dayNumber, dayOf } from '../../../shared/utc-day.js';
import { ALL_DAYS, rowOf } from '../embedded/ledger/day-ledger.js';
import { SEPARATOR } from '../embedded/files/rows.js';
import { inTransaction, reading } from '../embedded/files/errors.js';
import { packCounts } from '../embedded/journal/entry.js';
import type { Stores } from '../embedded/owner/stores.js';
import { removeDaysBefore } from '../embedded/sweep.js';
import { awaitedBans, forgetAwaited } from '../embedded/journal/ban-history.js';
import type { EmbeddedEngine } from '../embedded/engine.js';
import type { RedisEngine } from '../redis/engine.js';
import type { CachedKeyVerifier } from './verifier.js';

/** Calls in flight at the same time: few enough that each meets its deadline. */
const SENT_AT_ONCE = 16;

/** A row of the local ledger, and what Redis lacks of it. */
interface Waiting {
  readonly row: UsageRow;
  readonly missing: UsageCounts;
}

interface SpoolParts {
  readonly stores: Stores;
  /** The local ledger. Each operation's name ends in the ID of the gateway that counted it. */
  readonly usage: EmbeddedEngine['usage'];
  readonly verifier: Pick<CachedKeyVerifier, 'wholeTerms'>;
  readonly redis: Pick<RedisEngine, 'fleet'>;
  /** The last known time of the store's clock. */
  readonly now: () => number;
  /** Shares of its limits that a plan warns of; undefined without events. */
  readonly warnAt: (plan: string) => readonly number[] | undefined;
}

/**
 * Brings local counts into Redis: the ledger of the local engine, less what Redis acknowledged. The ledger only grows,
 * and Redis subtracts what it already took from the same gateway. So a transfer may stop anywhere, be repeated, and run
 * in several processes and from copies of the folder.
 */
export class Spool {
  /** Admitted requests that Redis does not have, as of the last count. */
  pending = 0;
  /** All counts before this day are in Redis. Days since 1970-01-01; null before the first replay. */
  openDay: number | null = null;
  readonly #parts: SpoolParts;

  constructor(parts: SpoolParts) {
    this.#parts = parts;
  }

  /** Yields what was counted here, summed over the gateways that ran here. */
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
    this.pending = pending;
  }

  /**
   * Brings everything that was counted before the call into Redis; resolves to those counts. Rejects with
   * StoreUnavailable, and may then be called again.
   */
  async replay(): Promise<UsageCounts> {
    // The earlier of two clocks: a row must not be forgotten here while Redis remembers it. New counts would start
    // from 0, and Redis would ignore them as already taken.
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
    this.pending = 0;
    // Days before yesterday get no more counts.
    await this.#forgetBefore(dayOf(beganMs - 2 * DAY_MS));
    // On a day that ended longer ago, no process of this machine has a request in flight.
    this.openDay = dayNumber(beganMs - SETTLE_MS);
    return sum;
  }

  /** Yields the rows that Redis lacks something of, of any day: clocks may have been wrong. */
  async *#waiting(): AsyncGenerator<Waiting> {
    for await (const rows of this.#parts.usage.rows(...ALL_DAYS)) {
      for (const row of rows) {
        const missing = this.#missing(row);
        if (missing !== null) yield { row, missing };
      }
    }
  }

  /** @param batch by key and counting gateway */
  async #send(batch: ReadonlyMap<string, readonly Waiting[]>, sum: Counts): Promise<void> {
    const { redis, verifier, warnAt, now } = this.#parts;
    const sent = [...batch.values()].flat();
    if (sent.length === 0) return;
    await Promise.all(
      [...batch.values()].map((waiting) => {
        const [{ row }] = waiting as [Waiting];
        const terms = verifier.wholeTerms(row.key, now());
        const rows = waiting.map(({ row }) => {
          const { operation } = counted(row);
          return { ...row, operation, acknowledged: this.#acknowledged(row) };
        });
        return redis.fleet.take(counted(row).by, { keyId: row.key, rows, terms, warnAt: terms && warnAt(terms.plan) });
      }),
    );
    await this.#acknowledge(sent.map(({ row }) => row));
    for (const { missing } of sent) addCounts(sum, missing);
  }

  /** Returns the counts of a row that Redis may not have yet; null if it has all. */
  #missing(row: UsageRow): UsageCounts | null {
    const acknowledged = this.#acknowledged(row);
    const missing = noCounts();
    for (const field of COUNTS) missing[field] = Math.max(0, row[field] - acknowledged[field]);
    return COUNTS.some((field) => missing[field] > 0) ? missing : null;
  }

  /** Returns what Redis has acknowledged of a row. */
  #acknowledged(row: UsageRow): UsageCounts {
    const name = acknowledgedRow(row);
    const bytes = this.#parts.stores.durable.getBinary(name);
    return bytes === undefined ? noCounts() : rowOf(name, bytes);
  }

  /** Notes that Redis has these rows. On disk when the promise resolves. */
  async #acknowledge(rows: readonly UsageRow[]): Promise<void> {
    await inTransaction(this.#parts.stores, (durable) => {
      for (const row of rows) if (this.#missing(row) !== null) durable.putSync(acknowledgedRow(row), packCounts(row));
    });
  }

  /** Deletes days before `day`, some at each call. Redis must have all of them. */
  async #forgetBefore(day: string): Promise<void> {
    await inTransaction(this.#parts.stores, (durable) => {
      for (const kind of ['u', 'q']) removeDaysBefore(durable, kind, day);
    });
  }

  /** Sends bans that began here, for the history of their keys. Reading the counts has moved them to `durable`. */
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

/** Returns a row's operation, and the ID of the gateway that counted it. */
function counted({ operation: name }: UsageRow): { readonly operation: string; readonly by: string } {
  const [operation = '', by = ''] = name.split(SEPARATOR);
  return { operation, by };
}

/** Named like the ledger row, with `q` in place of its first letter, `u`. */
function acknowledgedRow({ day, key, plan, operation }: UsageRow): string {
  return `q${[day, key, plan, operation].join(SEPARATOR)}`;
}
