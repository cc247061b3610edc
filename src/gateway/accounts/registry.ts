import { patiently } from '../store/retry.js';
import { ChangeUncertain } from '../store/port.js';
import type { GatewayEvent } from '../store/outbox/event.js';
import type { AdmissionEngine, KeyStore } from '../store/port.js';
import type { Plans } from '../admission/plan.js';
import { banByHand, outboxChange } from './announce.js';
import { changed, refuseCustomers, refuseRevoked, revoked } from './change.js';
import { storeClock } from './clock.js';
import type { Clock } from './clock.js';
import { createKey } from './create.js';
import type { IssuedKey } from './create.js';
import { CustomerRegistry } from './customers/registry.js';
import { untilWritten } from './edits.js';
import type { Change } from './edits.js';
import type { Body, FieldRules, Prices } from './fields.js';
import { granted, withdrawn, withoutPast } from './grants.js';
import { importKeys } from './import/import.js';
import type { ImportLine, ImportResult } from './import/import.js';
import { lineFields } from './import/line.js';
import { scanKeys } from './listing.js';
import type { KeyFilter, KeyPage } from './listing.js';
import type { KeyRecord } from '../store/records/key.js';
import type { AuditEntry } from '../store/records/record.js';
import { withTerms } from './customers/of-key.js';
import { PlanRegistry } from './plans/uses.js';
import { KeyRefused } from './refused.js';
import { checkOverlap, rotated } from './rotation.js';
import { isKeyId, looksLikeToken, makeToken } from './token.js';
import { WebhookRegistry } from './customers/webhooks.js';

export interface RegistryParts {
  readonly engine: Pick<AdmissionEngine, 'keys' | 'customers' | 'admit'>;
  /** Asked each time: a reload may change them. */
  readonly plans: () => Plans;
  /** Every scope of the contract. */
  readonly scopes: readonly string[];
  /** What each operation costs by the contract. */
  readonly costs: ReadonlyMap<string, number>;
  /** Stands in each token. */
  readonly environment: string;
  /** Whether tokens of another form may be brought in. */
  readonly acceptImported: boolean;
  /** How changes are told as events; left out, they are not. */
  readonly events?: { readonly customerNetworks: readonly string[] } | null;
  /** The store's clock unless a test says otherwise. */
  readonly clock?: Clock;
}

const EXPORTED_AT_ONCE = 250;
/** Who did it when nobody gave a name. */
const ANYBODY = 'admin-api';

/** A change worked out on one version of a record; null when there is nothing to change. */
type Edit = (record: KeyRecord, nowMs: number) => Change<KeyRecord> | null;

/**
 * The life of keys: create, find, change, rotate, revoke. Every change is checked whole before
 * anything is written, and lands in the key's history.
 * All methods reject with KeyRefused for what the caller can put right, StoreUnavailable when the store is away.
 */
export class KeyRegistry {
  readonly #store: KeyStore;
  readonly #clock: Clock;
  readonly customers: CustomerRegistry;
  readonly planUse: PlanRegistry;
  readonly webhooks: WebhookRegistry;
  readonly #parts: RegistryParts;

  constructor(parts: RegistryParts) {
    this.#store = parts.engine.keys;
    this.#clock = parts.clock ?? storeClock(parts.engine);
    this.#parts = parts;
    this.planUse = new PlanRegistry(parts.engine, parts.plans, parts.costs);
    this.customers = new CustomerRegistry({ ...parts, clock: this.#clock });
    this.webhooks = new WebhookRegistry(this.customers, parts.events ?? null);
  }

  /** @param body as createKey says */
  async create(body: Body, actor = ANYBODY): Promise<IssuedKey> {
    const { environment, acceptImported, engine } = this.#parts;
    const rules = { ...(await this.#rules()), environment, acceptImported, customers: engine.customers };
    return createKey(body, rules, actor, (record, entry) => this.#write(undefined, record, entry));
  }

  async get(id: string): Promise<KeyRecord> {
    const record = isKeyId(id) ? await this.#store.read(id) : undefined;
    if (record !== undefined) return record;
    const hint = looksLikeToken(id)
      ? "a whole key was given: give its id, the 12 characters after the environment (14 of a customer's key)"
      : 'no key has this id';
    throw new KeyRefused('not_found', [hint]);
  }

  /** Keys by id, a page at a time. */
  async list(filter: KeyFilter, cursor: string | null, count: number): Promise<KeyPage> {
    return scanKeys(this.#store, this.#parts.engine.customers, filter, cursor, count);
  }

  /** The record with plan and limits of its customer, where it has one. */
  async asItHolds(record: KeyRecord): Promise<KeyRecord> {
    const [held = record] = await withTerms(this.#parts.engine.customers, [record]);
    return held;
  }

  /** Every key of a customer, by id. */
  async keysOf(customer: string): Promise<readonly KeyRecord[]> {
    const keys: KeyRecord[] = [];
    for await (const some of this.all({ customer })) keys.push(...some);
    return keys;
  }

  /** What happened to the key, in the store's order. */
  async history(id: string): Promise<readonly AuditEntry[]> {
    const { id: known } = await this.get(id);
    return this.#store.history(known);
  }

  /** @param body some of `{plan, name, note, limits, scopes, expires, status}` */
  async change(id: string, body: Body, actor = ANYBODY): Promise<KeyRecord> {
    return this.#edit(id, actor, (record, nowMs) => changed(record, body, this.#rulesAt(nowMs)));
  }

  /**
   * Gives the key a new secret. Of those before, the one that would be good longest (the first, of equals)
   * stays good for `overlapMs`, or to its own end when that comes first; any other ends at once. So two are
   * good at most, and one of them without an end.
   */
  async rotate(id: string, overlapMs: number, actor = ANYBODY): Promise<IssuedKey> {
    checkOverlap(overlapMs);
    let token = '';
    const record = await this.#edit(id, actor, (record, nowMs) => {
      refuseRevoked(record);
      const made = makeToken(this.#parts.environment, record.id);
      token = made.token;
      return rotated(record, made.secretHash, nowMs, overlapMs);
    }).catch((error: unknown) => {
      throw error instanceof ChangeUncertain
        ? new ChangeUncertain(`${error.message} The new secret is not shown: rotate once more.`)
        : error;
    });
    return { record, token };
  }

  /** Ends the key for ever; the record stays, because the ledger names it. Revoking twice is no error. */
  async revoke(id: string, actor = ANYBODY): Promise<KeyRecord> {
    return this.#edit(id, actor, revoked);
  }

  /** More of one window for a while. @param body `{window, units, until, note?}` */
  async grant(id: string, body: Body, actor = ANYBODY): Promise<KeyRecord> {
    return this.#edit(id, actor, (record, nowMs) => {
      refuseRevoked(record);
      refuseCustomers(record);
      return granted(record, body, this.#parts.plans(), nowMs, actor);
    });
  }

  /** Ends a grant now. */
  async withdraw(id: string, grant: string, actor = ANYBODY): Promise<void> {
    await this.#edit(id, actor, (record, nowMs) => {
      refuseCustomers(record);
      return withdrawn(record, grant, nowMs);
    });
  }

  /** Writes into the key's history what happened to it elsewhere: a ban started or lifted by hand. */
  async note(id: string, action: 'banned' | 'lifted', changed: AuditEntry['changed'], actor = ANYBODY): Promise<void> {
    await this.#edit(id, actor, (record) => ({ next: record, action, changed }));
  }

  /** Every key that passes `filter`, by id, some at a time. */
  async *all(filter: KeyFilter): AsyncGenerator<readonly KeyRecord[], void> {
    let cursor: string | null = null;
    do {
      const from = cursor;
      const page: KeyPage = await patiently(() => this.list(filter, from, EXPORTED_AT_ONCE));
      if (page.keys.length > 0) yield page.keys;
      ({ cursor } = page);
    } while (cursor !== null);
  }

  /**
   * Brings in many keys (import.ts), or with `check` says what would come of it.
   * Rejects with ImportRefused, every problem with its line.
   */
  async import(lines: AsyncIterable<ImportLine>, actor = ANYBODY, check = false): Promise<ImportResult> {
    const { acceptImported } = this.#parts;
    const rules = await this.#rules();
    const lineRules = { ...rules, acceptImported, fields: lineFields(rules) };
    return importKeys({ store: this.#store, rules: lineRules, actor, check }, lines);
  }

  /** The event of a ban that begins by hand now; undefined where nothing is told. */
  async eventOfBan(record: KeyRecord, untilMs: number, reason: string | null): Promise<GatewayEvent | undefined> {
    if (!this.tellsEvents) return undefined;
    return banByHand(await this.asItHolds(record), untilMs, reason, await this.#clock());
  }

  /** Whether changes are told as events. */
  get tellsEvents(): boolean {
    return (this.#parts.events ?? null) !== null;
  }

  nowMs(): Promise<number> {
    return this.#clock();
  }

  async #rules(): Promise<FieldRules & Prices> {
    return this.#rulesAt(await this.#clock());
  }

  #rulesAt(nowMs: number): FieldRules & Prices {
    const { plans, scopes, costs } = this.#parts;
    return { plans: plans(), scopes, costs, nowMs };
  }

  async #write(before: KeyRecord | undefined, record: KeyRecord, entry: AuditEntry): Promise<void> {
    const told = this.tellsEvents ? outboxChange(before, await this.asItHolds(record), entry) : undefined;
    return this.#store.write(record, entry, told);
  }

  async #edit(id: string, actor: string, edit: Edit): Promise<KeyRecord> {
    return untilWritten(async () => {
      const record = await this.get(id);
      const nowMs = await this.#clock();
      const edited = edit(record, nowMs);
      if (edited === null) {
        await this.#store.confirm(record.id);
        return record;
      }
      const next = { ...withoutPast(edited.next, nowMs), version: record.version + 1 };
      await this.#write(record, next, { atMs: nowMs, actor, action: edited.action, changed: edited.changed });
      return next;
    }, 'the key is being changed by somebody else; try again');
  }
}
