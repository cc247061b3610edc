import type { AdmissionEngine, BanStore } from '../../store/port.js';
import type { Ban, KeyRecord } from '../../store/records/key.js';
import type { Plans } from '../../admission/plan.js';
import { StoreUnavailable } from '../../admission/port.js';
import { outboxChange } from '../announce.js';
import { changed, refuseCustomers, refuseRevoked, revoked } from './change.js';
import { storeClock, type Clock } from '../../store/store-clock.js';
import { readNewKey } from './create.js';
import { NO_CHANGE } from '../../store/outbox/event.js';
import { CustomerRegistry } from '../customers/registry.js';
import { advised, isoOrNull, NO_FREE_ID, valuesOf } from '../edits.js';
import { openPlans, type Body, type FieldRules } from '../fields.js';
import { importKeys, type ImportLine, type ImportResult } from '../transfer/import.js';
import { lineFields } from '../transfer/line.js';
import type { Entry } from '../directory.js';
import type { KeyFilter } from '../listing.js';
import { correctionsIn, type CorrectionOf } from '../../store/records/correction.js';
import { customerOf } from '../../store/records/customer-id.js';
import type { AuditEntry } from '../../store/records/record.js';
import { withTerms } from '../customers/of-key.js';
import { PlanRegistry } from '../plans/uses.js';
import { ANYBODY, RecordRegistry, type Written } from '../record-registry.js';
import { checkOverlap, newestOf, rotated } from '../rotation.js';
import { KeyRefused } from '../refused.js';
import type { HeldKey } from '../state.js';
import { isKeyId, makeToken, newKeyId, parseToken } from '../token.js';
import { InTurn } from '../../../shared/turns/in-turn.js';

export interface RegistryParts extends Pick<FieldRules, 'scopes' | 'costs' | 'acceptImported'> {
  readonly engine: Pick<AdmissionEngine, 'keys' | 'customers' | 'admit'>;
  /** Asked each time: a reload may change them. */
  readonly plans: () => Plans;
  /** Part of each token. */
  readonly environment: string;
  /** Whether changes are emitted as events; default false. */
  readonly emitsEvents?: boolean;
  /** Tests only: replaces the store's clock. */
  readonly clock?: Clock;
}

/** The life cycle of keys: create, find, change, rotate, ban, revoke. */
export class KeyRegistry extends RecordRegistry<KeyRecord, KeyFilter> {
  readonly customers: CustomerRegistry;
  readonly planUse: PlanRegistry;
  readonly scopes: readonly string[];
  readonly environment: string;
  readonly emitsEvents: boolean;
  readonly #parts: RegistryParts;

  constructor(parts: RegistryParts) {
    const { engine, plans, clock = storeClock(engine), costs } = parts;
    const corrections = new InTurn();
    super(
      { store: engine.keys, clock, plans, corrections },
      {
        name: 'key',
        isId: isKeyId,
        missing: 'not_found',
        idInToken: "give its id, the 12 characters after the environment (14 of a customer's key)",
        refuseEnded: refuseRevoked,
        refuseShared: refuseCustomers,
      },
    );
    this.#parts = parts;
    ({ scopes: this.scopes, environment: this.environment, emitsEvents: this.emitsEvents = false } = parts);
    this.planUse = new PlanRegistry(engine, plans, costs);
    this.customers = new CustomerRegistry({
      store: engine.customers,
      keys: engine.keys,
      clock,
      plans,
      costs,
      corrections,
    });
  }

  /** Plans that can be assigned to a key or customer. */
  get openPlans(): readonly string[] {
    return openPlans(this.plans());
  }

  /**
   * Returns the key with its token, which is shown only once.
   * @param body `{plan, name, note?, limits?, scopes?, expires?, key?}`; `key` imports a token of another form.
   * For a customer: `{customer, name, note?, scopes?, expires?}`
   */
  async create(body: Body, actor = ANYBODY) {
    const rules = await this.#rules();
    const { imported, customer, ...fields } = await readNewKey(body, rules, this.#parts.engine.customers);
    const { nowMs: atMs } = rules;
    let token = imported ?? '';
    const make = (): KeyRecord => {
      const made = imported === null ? makeToken(this.environment, newKeyId(customer)) : null;
      token = made?.token ?? token;
      const { id, secretHash } = made ?? parseToken(token, this.environment, true)!;
      const secrets = [{ hash: secretHash, endsAtMs: null }];
      return { ...fields, id, status: 'enabled', createdAtMs: atMs, secrets, version: 1 };
    };
    const action = imported === null ? 'created' : 'imported';
    const taken = imported === null ? NO_FREE_ID : 'key: this key exists already, or existed until it was revoked';
    const entry: AuditEntry = { atMs, actor, action, changed: valuesOf({ customer: customer ?? '', ...fields }) };
    const record = await this.insert(make, entry, ', whose secret is not shown: revoke it and create another.', taken);
    return { record, token };
  }

  override async effective(record: KeyRecord): Promise<HeldKey> {
    const [held = record] = await withTerms(this.#parts.engine.customers, [record]);
    return held;
  }

  /** All keys of a customer, by ID. */
  async keysOf(customer: string): Promise<readonly KeyRecord[]> {
    const keys: KeyRecord[] = [];
    for await (const some of this.all({ customer })) keys.push(...some);
    return keys;
  }

  /** @param body some of `{plan, name, note, limits, scopes, expires, status}` */
  async change(id: string, body: Body, actor = ANYBODY): Promise<KeyRecord> {
    return this.edit(id, actor, (record, nowMs) => changed(record, body, this.#rulesAt(nowMs)));
  }

  /**
   * Gives the key a new secret. The two older ones with the latest ends remain valid for `overlapMs` at most, and not
   * past their own end; any other ends immediately.
   * @param holding hash of the secret that the holder presented: holders may replace only the newest
   */
  async rotate(id: string, overlapMs: number, actor = ANYBODY, holding?: string) {
    checkOverlap(overlapMs);
    let token = '';
    const rotating = this.edit(id, actor, (record, nowMs) => {
      refuseRevoked(record);
      if (holding !== undefined && newestOf(record.secrets)?.hash !== holding)
        throw new KeyRefused('conflict', ['this secret was replaced by a newer one; rotate with that']);
      const made = makeToken(this.environment, record.id);
      token = made.token;
      return rotated(record, made.secretHash, nowMs, overlapMs);
    });
    const record = await advised(rotating, 'The new secret is not shown: rotate once more.');
    return { record, token };
  }

  /** Ends the key permanently; the record stays, because the ledger refers to it. Idempotent. */
  async revoke(id: string, actor = ANYBODY): Promise<KeyRecord> {
    return this.edit(id, actor, revoked);
  }

  /** Bans a key for `forMs` from now on, whatever ban is in force. */
  async ban(id: string, forMs: number, reason: string | null, actor = ANYBODY): Promise<Ban> {
    let ban: Ban | undefined;
    await this.edit(id, actor, (record, nowMs) => {
      ban = { keyId: record.id, untilMs: nowMs + forMs, level: 1, note: { reason, actor } };
      const until = isoOrNull(ban.untilMs);
      return { next: record, action: 'banned', changed: reason === null ? { until } : { until, reason }, ban };
    });
    return ban!;
  }

  /** Lifts the ban of a key and resets its strikes. Returns false, and writes nothing, if none is in force. */
  async lift(id: string, bans: Pick<BanStore, 'read'>, actor = ANYBODY): Promise<boolean> {
    let isBanned = false;
    await this.edit(id, actor, async (record) => {
      isBanned = (await bans.read(record.id)) !== undefined;
      return isBanned ? { next: record, action: 'lifted', changed: {}, ban: null } : null;
    });
    return isBanned;
  }

  /** Imports many keys, or only checks them. Rejects with ImportRefused. */
  async import(lines: AsyncIterable<ImportLine>, actor = ANYBODY, check = false): Promise<ImportResult> {
    const rules = await this.#rules();
    const lineRules = { ...rules, fields: lineFields(rules) };
    return importKeys({ store: this.store, rules: lineRules, actor, check }, lines).finally(() =>
      this.directory.forget(),
    );
  }

  /** Filters by the effective plan and limits. */
  protected override async page(
    afterId: string | null,
    count: number,
    { customer = '' }: KeyFilter,
  ): Promise<readonly HeldKey[]> {
    const records = await this.store.page(afterId ?? (customer === '' ? null : customer), count);
    const own = records.filter(({ id }) => id.startsWith(customer));
    return this.allAsTheyHold(own);
  }

  /** One customer that cannot be read must not keep the other keys from a list: its keys are as without it. */
  protected override allAsTheyHold(records: readonly KeyRecord[]): Promise<readonly HeldKey[]> {
    const { customers } = this.#parts.engine;
    const read = (id: string): ReturnType<typeof customers.read> =>
      customers.read(id).catch((error: unknown) => {
        if (error instanceof StoreUnavailable) throw error;
        return undefined;
      });
    return withTerms({ read }, records);
  }

  /** A key is found by the name and the reference of its customer, too. */
  protected override async listed(text: string, { customer }: KeyFilter) {
    const customers = text === '' ? new Set<string>() : await this.customers.idsWith(text);
    return (entry: Entry): boolean => {
      const its = customerOf(entry.id);
      if (customer !== undefined && its !== customer) return false;
      return entry.text.includes(text) || (its !== null && customers.has(its));
    };
  }

  protected override async payerOf(record: KeyRecord, history: readonly AuditEntry[]) {
    const customer = customerOf(record.id);
    if (customer === null) return { record, history };
    return { record: await this.customers.get(customer), history: await this.customers.history(customer) };
  }

  protected override async relatedCorrections({ id }: KeyRecord): Promise<readonly CorrectionOf[]> {
    const subject = customerOf(id);
    if (subject === null) return [];
    const history = await this.#parts.engine.customers.history(subject);
    return correctionsIn(history).map((one) => ({ ...one, subject }));
  }

  /** @param record with its effective plan and limits */
  protected override passes(record: KeyRecord, { customer, plan, status, name = '' }: KeyFilter): boolean {
    return (
      (customer === undefined || customerOf(record.id) === customer) &&
      (plan ?? record.plan) === record.plan &&
      (status ?? record.status) === record.status &&
      record.name.startsWith(name)
    );
  }

  protected override async write({ before, record, entry, ban }: Written<KeyRecord>): Promise<void> {
    const events = this.emitsEvents ? outboxChange(before, await this.effective(record), entry, ban) : NO_CHANGE;
    return this.#parts.engine.keys.write(record, entry, { ...events, ban });
  }

  async #rules(): Promise<FieldRules> {
    return this.#rulesAt(await this.nowMs());
  }

  #rulesAt(nowMs: number): FieldRules {
    const { scopes, costs, acceptImported } = this.#parts;
    return { plans: this.plans(), scopes, costs, acceptImported, nowMs };
  }
}
