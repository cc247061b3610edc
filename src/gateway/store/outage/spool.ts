import { DAY_MS, SETTLE_MS, SHAPES } from '../../admission/bucket.js';
import { addCounts, noCounts } from '../counts.js';
import type { Counts } from '../counts.js';
import { payerOf } from '../records/customer-id.js';
import { dayOf } from '../embedded/ledger/day.js';
import type { RedisEngine } from '../redis/engine.js';
import type { GreedyDay } from '../redis/spool.js';
import type { UsageCounts, UsageRow } from '../port.js';
import type { Local } from './local.js';
import type { Metadata } from './metadata.js';
import type { AcknowledgedCounts } from './acknowledged.js';

/** Calls under way at once: few enough that each keeps its deadline. */
const SENT_AT_ONCE = 16;

/** A row of the ledger here, and what Redis lacks of it. */
interface Waiting {
  readonly row: UsageRow;
  readonly missing: UsageCounts;
}

/** How much of a greedy day the keys before brought in one replay, by who pays, in the units of buckets. */
type Brought = Map<string, number>;

interface SpoolParts {
  readonly local: Local;
  readonly redis: Pick<RedisEngine, 'fleet'>;
  readonly metadata: Metadata;
  readonly acknowledged: AcknowledgedCounts;
}

/**
 * What was counted here and is still to come into Redis: the ledger of the local engine, less what
 * Redis acknowledged. The ledger only grows and Redis subtracts what it took before, so that sending
 * it may break off anywhere, be repeated, and be done by several processes at once.
 */
export class Spool {
  readonly #parts: SpoolParts;
  readonly #id: string;
  #pending = 0;
  #openDay: number | null = null;

  constructor(parts: SpoolParts) {
    this.#parts = parts;
    this.#id = parts.metadata.spoolId();
  }

  /** Names this store: also the gateway's own id among others. */
  get id(): string {
    return this.#id;
  }

  /** Admitted requests that Redis does not have, as last counted. */
  get pending(): number {
    return this.#pending;
  }

  /** All counts of days before it are in Redis, days since 1970-01-01; null before the first replay. */
  get openDay(): number | null {
    return this.#openDay;
  }

  /** Counts `pending` anew. */
  async measure(): Promise<void> {
    let pending = 0;
    for await (const { missing } of this.#waiting()) pending += missing.requests;
    this.#pending = pending;
  }

  /** Brings all that was counted before the call into Redis; gives what that was. Rejects with StoreUnavailable, and may then be called again. */
  async replay(): Promise<UsageCounts> {
    const beganMs = Date.now();
    const sum = noCounts();
    const brought: Brought = new Map();
    let group: Waiting[] = [];
    let keys = 0;
    for await (const one of this.#waiting()) {
      if (one.row.key !== group.at(-1)?.row.key) keys += 1;
      if (keys > SENT_AT_ONCE) {
        await this.#send(group, sum, brought);
        [group, keys] = [[], 1];
      }
      group.push(one);
    }
    await this.#send(group, sum, brought);
    this.#pending = 0;
    await this.#close(beganMs);
    // Of a day that ended longer ago nothing is under way any more, in no process of this machine.
    this.#openDay = Math.floor((beganMs - SETTLE_MS) / DAY_MS);
    return sum;
  }

  /** The rows Redis lacks something of; those of a key one after the other. */
  async *#waiting(): AsyncGenerator<Waiting> {
    const { local, metadata, acknowledged } = this.#parts;
    const nowMs = Date.now();
    // A clock that was set back may have counted on days to come.
    for await (const rows of local.engine.usage.rows(
      metadata.read('day') ?? dayOf(nowMs - DAY_MS),
      dayOf(nowMs + DAY_MS),
    )) {
      for (const row of rows) {
        const missing = acknowledged.missing(row);
        if (missing !== null) yield { row, missing };
      }
    }
  }

  async #send(group: readonly Waiting[], sum: Counts, brought: Brought): Promise<void> {
    if (group.length === 0) return;
    const { redis, acknowledged, local } = this.#parts;
    const keys = new Map<string, Waiting[]>();
    for (const one of group) keys.set(one.row.key, [...(keys.get(one.row.key) ?? []), one]);
    await Promise.all(
      [...keys].map(([keyId, waiting]) =>
        redis.fleet.take(this.#id, {
          keyId,
          rows: waiting.map(({ row }) => row),
          greedyDay: restOf(local.greedyDay(keyId), payerOf(keyId), waiting, brought),
          warned: local.warned(keyId),
          windowsOf: (operation) => local.windowsOf(keyId, operation),
        }),
      ),
    );
    await acknowledged.acknowledge(group.map(({ row }) => row));
    for (const { missing } of group) addCounts(sum, missing);
  }

  /** Days before yesterday get no counts any more: once replayed, they are over. */
  async #close(beganMs: number): Promise<void> {
    const { metadata, acknowledged } = this.#parts;
    await metadata.write('day', dayOf(beganMs - DAY_MS));
    await acknowledged.forgetBefore(dayOf(beganMs - 2 * DAY_MS));
  }
}

/** Of a greedy day what is left to be brought by a key: what all keys of a customer bring is what their bucket lacked. */
function restOf(day: GreedyDay | null, payer: string, waiting: readonly Waiting[], brought: Brought): GreedyDay | null {
  if (day === null) return null;
  const before = brought.get(payer) ?? 0;
  const level = Math.max(0, day.level - before);
  const units = waiting.reduce((total, { missing }) => total + missing.units, 0);
  brought.set(payer, before + Math.min(level, units * SHAPES.day.parts));
  return { limit: day.limit, level };
}
