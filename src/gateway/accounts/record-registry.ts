import { setImmediate as nextTurn } from 'node:timers/promises';
import { withRetry } from '../store/records/retry.js';
import { Overdrawn } from '../store/records/conflicts.js';
import { ANONYMOUS_PLAN, type Plans } from '../admission/plan.js';
import type { Correction, CorrectionOf } from '../store/records/correction.js';
import type { AuditEntry, RecordStore } from '../store/records/record.js';
import type { Clock } from '../store/store-clock.js';
import { corrected } from './corrections.js';
import { credited, overdrawn, type Credited } from './credits.js';
import { advised, untilWritten, type Account, type Change } from './edits.js';
import type { Body } from './fields.js';
import { granted, withdrawn, withoutPast } from './grants.js';
import { cursorOf, Directory, isAfter, searchable, type Entry } from './directory.js';
import { scan, type Page } from './listing.js';
import { planDays, plansIn, type Payer } from './plans/days.js';
import { KeyRefused, type KeyRefusedKind } from './refused.js';
import { looksLikeToken } from './token.js';
import type { InTurn } from '../../shared/turns/in-turn.js';
import { payerOf } from '../store/records/customer-id.js';

/** Returns the plans with counts of a payer in the month of a day. */
type PlansCounted = (payer: string, day: string) => Promise<ReadonlySet<string>>;

const nothingCounted: PlansCounted = () => Promise.resolve(new Set());

export interface RecordParts<R extends Account> {
  readonly store: RecordStore<R, never>;
  readonly clock: Clock;
  /** Asked each time: a reload may change them. */
  readonly plans: () => Plans;
  /** Serializes corrections by payer; shared by keys and customers. */
  readonly corrections: InTurn;
}

/** The differences between keys and customers. */
interface RecordType<R> {
  readonly name: 'key' | 'customer';
  readonly isId: (text: string) => boolean;
  readonly missing: KeyRefusedKind;
  /** Where to find its ID, if a whole key was given instead. */
  readonly idInToken: string;
  /** Throws KeyRefused for a revoked key or a closed customer. */
  readonly refuseEnded: (record: R) => void;
  /** Throws KeyRefused if it has no limits of its own. */
  readonly refuseShared: (record: R) => void;
}

/** The payer, with the history of its plans. */
interface PayerHistory {
  readonly record: Payer;
  readonly history: readonly AuditEntry[];
}

/** A change as written; a new record has no `before`. */
export interface Written<R> extends Pick<Change<R>, 'ban'> {
  readonly before?: R;
  readonly record: R;
  readonly entry: AuditEntry;
}

/** Computes a change from one version of a record; null if nothing changes. */
type Edit<R> = (record: R, nowMs: number) => Change<R> | null | Promise<Change<R> | null>;

const EXPORTED_AT_ONCE = 250;
/** The actor if no name was given. */
export const ANYBODY = 'admin-api';

/**
 * What keys and customers have in common. Every change is checked completely before it is written, and recorded in the
 * history. All methods reject with KeyRefused for what the caller can correct, StoreUnavailable if the store is
 * unavailable, ChangeUncertain if no replica confirmed a change.
 */
export abstract class RecordRegistry<R extends Account, Filter extends object> {
  protected readonly store: RecordStore<R, never>;
  readonly nowMs: Clock;
  /** The plans in force. */
  readonly plans: () => Plans;
  protected readonly directory: Directory;
  readonly #type: RecordType<R>;
  readonly #corrections: InTurn;

  protected constructor({ store, clock, plans, corrections }: RecordParts<R>, type: RecordType<R>) {
    this.store = store;
    this.nowMs = clock;
    this.plans = plans;
    this.directory = new Directory((afterId, count) => this.store.page(afterId, count));
    this.#type = type;
    this.#corrections = corrections;
  }

  /** Up to `count` records after `afterId`, by ID; may omit those that `filter` excludes. */
  protected page(afterId: string | null, count: number, _filter: Filter): Promise<readonly R[]> {
    return this.store.page(afterId, count);
  }

  protected abstract passes(record: R, filter: Filter): boolean;

  /** Returns which directory entries to list, before records are read. @param text from `searchable` */
  protected listed(text: string, _filter: Filter): Promise<(entry: Entry) => boolean> {
    return Promise.resolve((entry) => entry.text.includes(text));
  }

  /** The corrections of its customer, or of all its keys. */
  protected abstract relatedCorrections(record: R): Promise<readonly CorrectionOf[]>;

  /** The payer of its usage, with the payer's history. */
  protected abstract payerOf(record: R, history: readonly AuditEntry[]): Promise<PayerHistory>;

  async get(id: string): Promise<R> {
    const { name, isId, missing, idInToken } = this.#type;
    const record = isId(id) ? await this.store.read(id) : undefined;
    if (record !== undefined) return record;
    const hint = looksLikeToken(id) ? `a whole key was given: ${idInToken}` : `no ${name} has this id`;
    throw new KeyRefused(missing, [hint]);
  }

  /** The record with its effective plan and limits: a customer's key has the customer's. */
  effective(record: R): Promise<R> {
    return Promise.resolve(record);
  }

  /** Returns a page of records, by ID. */
  list(filter: Filter, cursor: string | null, count: number): Promise<Page<R>> {
    const read = async (afterId: string | null, max: number): Promise<Page<R>> => {
      const records = await this.page(afterId, max, filter);
      return { records, cursor: records.length < max ? null : records.at(-1)!.id };
    };
    return scan(read, this.#wantedBy(filter), cursor, count, ({ id }) => id);
  }

  /**
   * Returns a page of the records with `text` in their name, ID or reference, in any case, the newest first.
   * @param cursor from `cursorOf` (directory.ts)
   */
  async newest(filter: Filter, text: string, cursor: string | null, count: number): Promise<Page<R>> {
    const isListed = await this.listed(searchable(text), filter);
    const wanted = (await this.directory.entries()).filter(
      (entry) => (cursor === null || isAfter(cursor, entry)) && isListed(entry),
    );
    let at = 0;
    const read = async (_after: string | null, max: number): Promise<Page<R>> => {
      const some = wanted.slice(at, (at += max));
      const found = await Promise.all(some.map(({ id }) => this.store.read(id)));
      const records = await this.allAsTheyHold(found.filter((one) => one !== undefined));
      return { records, cursor: at < wanted.length ? cursorOf(some.at(-1)!) : null };
    };
    return scan(read, this.#wantedBy(filter), cursor, count, cursorOf);
  }

  /** Returns the IDs of records with this text, from `searchable`, in their name, ID or reference. */
  async idsWith(text: string): Promise<ReadonlySet<string>> {
    const entries = await this.directory.entries();
    return new Set(entries.filter((entry) => entry.text.includes(text)).map(({ id }) => id));
  }

  /** Null if the filter excludes nothing. */
  #wantedBy(filter: Filter): ((record: R) => boolean) | null {
    return Object.keys(filter).length === 0 ? null : (record) => this.passes(record, filter);
  }

  protected allAsTheyHold(records: readonly R[]): Promise<readonly R[]> {
    return Promise.resolve(records);
  }

  /** All records that match `filter`, by ID, in batches. */
  async *all(filter: Filter): AsyncGenerator<readonly R[], void> {
    let cursor: string | null = null;
    do {
      const from = cursor;
      const page: Page<R> = await withRetry(() => this.list(filter, from, EXPORTED_AT_ONCE));
      if (page.records.length > 0) yield page.records;
      // The embedded store responds immediately: all pages would run in one turn of the event loop.
      await nextTurn();
      ({ cursor } = page);
    } while (cursor !== null);
  }

  /** The history, oldest first. */
  async history(id: string): Promise<readonly AuditEntry[]> {
    const { id: known } = await this.get(id);
    return this.store.history(known);
  }

  /** Adds to one window for some time. @param body `{window, units, until, note?}` */
  async grant(id: string, body: Body, actor = ANYBODY): Promise<R> {
    return this.edit(id, actor, (record, nowMs) => {
      this.#type.refuseEnded(record);
      this.#type.refuseShared(record);
      return granted(record, body, this.plans(), nowMs, actor);
    });
  }

  /** Ends a grant now. */
  async withdraw(id: string, grant: string, actor = ANYBODY): Promise<void> {
    await this.edit(id, actor, (record, nowMs) => {
      this.#type.refuseShared(record);
      return withdrawn(record, grant, nowMs);
    });
  }

  /**
   * Adds to the usage of a day, or subtracts from it. Corrections of one payer are made one after the other.
   * @param body `{day, requests?, units?, reason, id?, plan?}`
   * @param plansCounted for a plan that is known from the ledger only
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
        // A generated ID is unique.
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

  /** Adds to the prepaid balance, or takes back what is not spent. @param body `{id, units, note?}` */
  async credit(id: string, body: Body, actor = ANYBODY): Promise<Credited> {
    let made: Credited | undefined;
    const record = this.edit(id, actor, async (record, nowMs) => {
      this.#type.refuseEnded(record);
      this.#type.refuseShared(record);
      const history = await this.store.history(record.id);
      const { change, ...done } = credited(record, history, body, this.plans().get(record.plan), nowMs, actor);
      made = done;
      return change;
    });
    await record.catch((error: unknown) => {
      throw error instanceof Overdrawn ? new KeyRefused('conflict', [overdrawn(Number(body['units']))]) : error;
    });
    return made!;
  }

  protected write({ record, entry }: Written<R>): Promise<void> {
    return this.store.write(record, entry);
  }

  /** Writes a new record. @param make creates it, each time with a new ID @param advice if the write is uncertain */
  protected insert(make: () => R, entry: AuditEntry, advice: string, taken: string): Promise<R> {
    return untilWritten(async () => {
      const record = make();
      await advised(this.write({ record, entry }), `This made the ${this.#type.name} ${record.id}${advice}`);
      this.directory.note(record);
      return record;
    }, taken);
  }

  protected edit(id: string, actor: string, edit: Edit<R>): Promise<R> {
    return untilWritten(async () => {
      const record = await this.get(id);
      const nowMs = await this.nowMs();
      const edited = await edit(record, nowMs);
      if (edited === null) {
        await this.store.confirm(record.id);
        return record;
      }
      const { next: changed, action, changed: what, ban } = edited;
      const next = { ...withoutPast(changed, nowMs), version: record.version + 1 };
      const entry = { atMs: nowMs, actor, action, changed: what };
      await this.write({ before: record, record: next, entry, ban });
      this.directory.note(next);
      return next;
    }, `the ${this.#type.name} is being changed by somebody else; try again`);
  }
}
