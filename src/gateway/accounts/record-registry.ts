import { setImmediate as nextTurn } from 'node:timers/promises';
import { withRetry } from '../store/retry.js';
import { ChangeUncertain } from '../store/port.js';
import type { Limits } from '../admission/bucket.js';
import { ANONYMOUS_PLAN, type Plans } from '../admission/plan.js';
import type { Correction, CorrectionOf } from '../store/records/correction.js';
import type { Grant } from '../store/records/grant.js';
import type { AuditEntry, RecordStore, StoredRecord } from '../store/records/record.js';
import type { Clock } from '../store/store-clock.js';
import { corrected } from './corrections.js';
import { untilWritten, type Change } from './edits.js';
import type { Body } from './fields.js';
import { granted, withdrawn, withoutPast } from './grants.js';
import { scan, type Page } from './listing.js';
import { planDays, plansIn, type Payer } from './plans/days.js';
import { KeyRefused, type KeyRefusedKind } from './refused.js';
import { looksLikeToken } from './token.js';
import type { InTurn } from '../../shared/in-turn.js';
import { payerOf } from '../store/records/customer-id.js';

/** A key or a customer. */
export interface Account extends StoredRecord {
  readonly plan: string;
  readonly limits: Limits | null;
  readonly grants?: readonly Grant[];
}

/** Plans that a payer was counted on in the month of a day. */
type PlansCounted = (payer: string, day: string) => Promise<ReadonlySet<string>>;

const nothingCounted: PlansCounted = () => Promise.resolve(new Set());

interface RecordParts<R extends Account> {
  readonly store: RecordStore<R, never>;
  readonly clock: Clock;
  /** Asked each time: a reload may change them. */
  readonly plans: () => Plans;
  /** By payer: keys and customers have one together. */
  readonly corrections: InTurn;
}

/** What is said of a type of records. */
interface RecordType {
  readonly name: 'key' | 'customer';
  readonly isId: (text: string) => boolean;
  readonly missing: KeyRefusedKind;
  /** Where its id stands in a key that was given instead. */
  readonly idInToken: string;
}

/** Which plan somebody had when, who pays. */
interface PayerHistory {
  readonly record: Payer;
  readonly history: readonly AuditEntry[];
}

/** A change as it is written; of a new record there is none `before`. */
export interface Written<R> extends Pick<Change<R>, 'ban'> {
  readonly before?: R;
  readonly record: R;
  readonly entry: AuditEntry;
}

/** A change worked out on one version of a record; null when there is nothing to change. */
type Edit<R> = (record: R, nowMs: number) => Change<R> | null | Promise<Change<R> | null>;

const EXPORTED_AT_ONCE = 250;
/** Who did it when nobody gave a name. */
export const ANYBODY = 'admin-api';

/**
 * What the lives of keys and customers have in common. Every change is checked whole before anything is written, and
 * lands in the history. All methods reject with KeyRefused for what the caller can put right, StoreUnavailable when
 * the store is unavailable, ChangeUncertain when no replica confirmed a change.
 */
export abstract class RecordRegistry<R extends Account, Filter extends object> {
  protected readonly store: RecordStore<R, never>;
  protected readonly clock: Clock;
  protected readonly plans: () => Plans;
  readonly #type: RecordType;
  readonly #corrections: InTurn;

  protected constructor({ store, clock, plans, corrections }: RecordParts<R>, type: RecordType) {
    this.store = store;
    this.clock = clock;
    this.plans = plans;
    this.#type = type;
    this.#corrections = corrections;
  }

  /** Up to `count` records with an id after `afterId`, by id; the last may leave out what `filter` doesn't want. */
  protected abstract page(afterId: string | null, count: number, filter: Filter): Promise<readonly R[]>;

  protected abstract passes(record: R, filter: Filter): boolean;

  /** Throws KeyRefused for what has ended for ever. */
  protected abstract refuseEnded(record: R): void;

  /** Throws KeyRefused for what has no limits of its own. */
  protected abstract refuseShared(record: R): void;

  /** Those of its customer, or of all its keys. */
  protected abstract relatedCorrections(record: R): Promise<readonly CorrectionOf[]>;

  /** Who pays for its usage, with its history. */
  protected abstract payerOf(record: R, history: readonly AuditEntry[]): Promise<PayerHistory>;

  async get(id: string): Promise<R> {
    const { name, isId, missing, idInToken } = this.#type;
    const record = isId(id) ? await this.store.read(id) : undefined;
    if (record !== undefined) return record;
    const hint = looksLikeToken(id) ? `a whole key was given: ${idInToken}` : `no ${name} has this id`;
    throw new KeyRefused(missing, [hint]);
  }

  /** The record with plan and limits as they hold: a key may have those of its customer. */
  asItHolds(record: R): Promise<R> {
    return Promise.resolve(record);
  }

  /** By id, a page at a time. */
  list(filter: Filter, cursor: string | null, count: number): Promise<Page<R>> {
    const isWanted = Object.keys(filter).length === 0 ? null : (record: R): boolean => this.passes(record, filter);
    return scan((afterId, some) => this.page(afterId, some, filter), isWanted, cursor, count);
  }

  /** All that pass `filter`, by id, some at a time. */
  async *all(filter: Filter): AsyncGenerator<readonly R[], void> {
    let cursor: string | null = null;
    do {
      const from = cursor;
      const page: Page<R> = await withRetry(() => this.list(filter, from, EXPORTED_AT_ONCE));
      if (page.records.length > 0) yield page.records;
      // The embedded store answers at once: all pages would be one turn of the event loop.
      await nextTurn();
      ({ cursor } = page);
    } while (cursor !== null);
  }

  /** What happened, in the store's order. */
  async history(id: string): Promise<readonly AuditEntry[]> {
    const { id: known } = await this.get(id);
    return this.store.history(known);
  }

  /** More of one window for a while. @param body `{window, units, until, note?}` */
  async grant(id: string, body: Body, actor = ANYBODY): Promise<R> {
    return this.edit(id, actor, (record, nowMs) => {
      this.refuseEnded(record);
      this.refuseShared(record);
      return granted(record, body, this.plans(), nowMs, actor);
    });
  }

  /** Ends a grant now. */
  async withdraw(id: string, grant: string, actor = ANYBODY): Promise<void> {
    await this.edit(id, actor, (record, nowMs) => {
      this.refuseShared(record);
      return withdrawn(record, grant, nowMs);
    });
  }

  /**
   * Adds to the usage of a day, or takes from it. Those of one payer are made one after the other.
   * @param body `{day, requests?, units?, reason, id?, plan?}`
   * @param plansCounted those that a payer was counted on in the month of a day, for a plan that nothing else knows
   */
  async correct(
    id: string,
    body: Body,
    actor = ANYBODY,
    plansCounted: PlansCounted = nothingCounted,
  ): Promise<Correction> {
    let made: Correction | undefined;
    const attempt = (): Promise<R> =>
      this.edit(id, actor, async (record, nowMs) => {
        const history = await this.store.history(record.id);
        const payer = await this.payerOf(record, history);
        // An id that is made here is nobody else's.
        const related = Object.hasOwn(body, 'id') ? await this.relatedCorrections(record) : [];
        const planOn = (day: string): string | null => planDays(payer.record, payer.history, [day])[0] ?? null;
        const isPlanKnown = async (plan: string, day: string): Promise<boolean> =>
          (plan !== ANONYMOUS_PLAN && this.plans().has(plan)) ||
          plansIn(payer.record, payer.history).has(plan) ||
          (await plansCounted(payer.record.id, day)).has(plan);
        const asked = { record, history, related, planOn, isPlanKnown };
        const { correction, change } = await corrected(asked, body, nowMs, actor);
        made = correction;
        return change;
      });
    await this.#corrections.run(payerOf(id), attempt);
    return made!;
  }

  nowMs(): Promise<number> {
    return this.clock();
  }

  protected write({ record, entry }: Written<R>): Promise<void> {
    return this.store.write(record, entry);
  }

  /** Writes a new record. @param make gives it, each time with another id @param advice for where it is uncertain */
  protected insert(make: () => R, entry: AuditEntry, advice: string, taken: string): Promise<R> {
    return untilWritten(async () => {
      const record = make();
      await this.write({ record, entry }).catch((error: unknown) => {
        throw error instanceof ChangeUncertain
          ? new ChangeUncertain(`${error.message} This made the ${this.#type.name} ${record.id}${advice}`)
          : error;
      });
      return record;
    }, taken);
  }

  protected edit(id: string, actor: string, edit: Edit<R>): Promise<R> {
    return untilWritten(async () => {
      const record = await this.get(id);
      const nowMs = await this.clock();
      const edited = await edit(record, nowMs);
      if (edited === null) {
        await this.store.confirm(record.id);
        return record;
      }
      const { next: changed, action, changed: what, ban } = edited;
      const next = { ...withoutPast(changed, nowMs), version: record.version + 1 };
      const entry = { atMs: nowMs, actor, action, changed: what };
      await this.write({ before: record, record: next, entry, ban });
      return next;
    }, `the ${this.#type.name} is being changed by somebody else; try again`);
  }
}
