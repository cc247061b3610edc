import { patiently } from '../admission/engines/patience.js';
import { ChangeUncertain, VersionConflict } from '../admission/port.js';
import type { GatewayEvent } from '../admission/events/outbox.js';
import type { AdmissionEngine, KeyStore } from '../admission/port.js';
import type { Plans } from '../admission/plan.js';
import { banByHand, outboxChange } from './announce.js';
import { storeClock } from './clock.js';
import type { Clock } from './clock.js';
import { CustomerRegistry } from './customers/registry.js';
import { differences, untilWritten } from './edits.js';
import { limitsOn, readFields } from './fields.js';
import type { Body, FieldRules, KeyFields } from './fields.js';
import { granted, withdrawn, withoutPast } from './grants.js';
import { importKeys } from './import/import.js';
import type { ImportLine, ImportResult } from './import/import.js';
import { scanKeys } from './listing.js';
import type { KeyFilter, KeyPage } from './listing.js';
import type { AuditEntry, KeyRecord, SecretHash } from '../admission/key-record.js';
import { customerOf } from '../admission/customers/id.js';
import { problemsOfChange, readCustomer, withTerms } from './customers/of-key.js';
import { KeyRefused } from './refused.js';
import { retire } from './rotation.js';
import { isKeyId, looksLikeToken, makeToken, newKeyId, parseToken } from './token.js';
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
  readonly events?: { readonly allowLocal: boolean } | null;
  /** The store's clock unless a test says otherwise. */
  readonly clock?: Clock;
}

/** A key with its token, which is shown this once and then nowhere. */
interface IssuedKey {
  readonly record: KeyRecord;
  readonly token: string;
}

const CREATE_FIELDS = ['plan', 'name', 'note', 'limits', 'scopes', 'expires', 'key', 'customer'];
const CHANGE_FIELDS = ['plan', 'name', 'note', 'limits', 'scopes', 'expires', 'status'];
/** In the order in which history shows them, before `expires`. */
const HISTORY_FIELDS = ['plan', 'name', 'note', 'status', 'limits', 'scopes'] as const;
const EXPORTED_AT_ONCE = 500;
/** Who did it when nobody gave a name. */
const ANYBODY = 'admin-api';
const MAX_OVERLAP_MS = 90 * 86_400_000;

/** A change worked out on one version of a record; null when there is nothing to change. */
type Edit = (
  record: KeyRecord,
  nowMs: number,
) => {
  readonly next: KeyRecord;
  readonly action: AuditEntry['action'];
  readonly changed: AuditEntry['changed'];
} | null;

/**
 * The life of keys: create, find, change, rotate, revoke. Every change is checked whole before
 * anything is written, and lands in the key's history.
 * All methods reject with KeyRefused for what the caller can put right, StoreUnavailable when the store is away.
 */
export class KeyRegistry {
  readonly #store: KeyStore;
  readonly #clock: Clock;
  readonly customers: CustomerRegistry;
  readonly webhooks: WebhookRegistry;
  readonly #parts: RegistryParts;

  constructor(parts: RegistryParts) {
    this.#store = parts.engine.keys;
    this.#clock = parts.clock ?? storeClock(parts.engine);
    this.#parts = parts;
    this.customers = new CustomerRegistry({ ...parts, clock: this.#clock });
    this.webhooks = new WebhookRegistry(this.customers, parts.events ?? null);
  }

  /**
   * @param body `{plan, name, note?, limits?, scopes?, expires?, key?}`; `key` brings in a token of another form.
   * Of a customer `{customer, name, note?, scopes?, expires?}`
   */
  async create(body: Body, actor = ANYBODY): Promise<IssuedKey> {
    const nowMs = await this.#clock();
    const problems: string[] = [];
    const fields = readFields(body, CREATE_FIELDS, this.#rules(nowMs), problems);
    const isCustomers = Object.hasOwn(body, 'customer');
    for (const field of isCustomers ? ['name'] : ['plan', 'name']) {
      if (!Object.hasOwn(body, field)) problems.push(`${field}: is required`);
    }
    const customer = await readCustomer(this.#parts.engine.customers, body, problems);
    const imported = isCustomers ? null : this.#importedToken(body, problems);
    const plan = isCustomers ? undefined : this.#parts.plans().get(fields.plan ?? '');
    const limits = plan === undefined ? null : limitsOn(plan, fields.limits, null, this.#parts, problems);
    if (problems.length > 0) throw new KeyRefused('invalid', problems);
    return this.#insert({ ...fields, limits }, imported, customer?.id ?? null, nowMs, actor);
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
    if (cursor === null) await this.#finishImport();
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
    return this.#edit(id, actor, (record, nowMs) => {
      refuseRevoked(record);
      const problems = [...problemsOfChange(record, body)];
      const fields = readFields(body, [...CHANGE_FIELDS, 'customer'], this.#rules(nowMs), problems);
      if (Object.keys(body).length === 0)
        problems.push(`nothing to change: send one or more of ${CHANGE_FIELDS.join(', ')}`);
      const plan = this.#parts.plans().get(fields.plan ?? record.plan);
      // A problem with the plan or the limits themselves is reported once, not twice.
      const limits = problems.length > 0 ? null : limitsOn(plan, fields.limits, record.limits, this.#parts, problems);
      if (problems.length > 0) throw new KeyRefused('invalid', problems);
      const next = { ...record, ...fields, limits };
      const changed = changesOf(record, next);
      return Object.keys(changed).length === 0 ? null : { next, action: 'changed', changed };
    });
  }

  /**
   * Gives the key a new secret. Of those before, the one that would be good longest (the first, of equals)
   * stays good for `overlapMs`, or to its own end when that comes first; any other ends at once. So two are
   * good at most, and one of them without an end.
   */
  async rotate(id: string, overlapMs: number, actor = ANYBODY): Promise<IssuedKey> {
    if (!Number.isInteger(overlapMs) || overlapMs < 0 || overlapMs > MAX_OVERLAP_MS) {
      throw new KeyRefused('invalid', ['overlap: must be a duration from 0s to 90d, such as 24h']);
    }
    let token = '';
    const record = await this.#edit(id, actor, (record, nowMs) => {
      refuseRevoked(record);
      const made = makeToken(this.#parts.environment, record.id);
      token = made.token;
      const { old, changed } = retire(record.secrets, nowMs, overlapMs);
      return {
        next: { ...record, secrets: [{ hash: made.secretHash, endsAtMs: null }, ...old] },
        action: 'rotated',
        changed,
      };
    }).catch((error: unknown) => {
      throw error instanceof ChangeUncertain
        ? new ChangeUncertain(`${error.message} The new secret is not shown: rotate once more.`)
        : error;
    });
    return { record, token };
  }

  /** Ends the key for ever; the record stays, because the ledger names it. Revoking twice is no error. */
  async revoke(id: string, actor = ANYBODY): Promise<KeyRecord> {
    return this.#edit(id, actor, (record) =>
      record.status === 'revoked'
        ? null
        : {
            next: { ...record, status: 'revoked', secrets: [] },
            action: 'revoked',
            changed: { status: { from: record.status, to: 'revoked' } },
          },
    );
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
   * Brings in many keys as one step: all or none (import.ts).
   * Rejects with KeyRefused, every problem with its line, and ImportLost.
   */
  async import(lines: AsyncIterable<ImportLine>, actor = ANYBODY): Promise<ImportResult> {
    const { acceptImported, costs } = this.#parts;
    return importKeys(
      { store: this.#store, rules: { ...this.#rules(await this.#clock()), costs, acceptImported }, actor },
      lines,
    );
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

  /** Lists are of what is in its place: keys of an import that was left behind after its commit go there first. */
  async #finishImport(): Promise<void> {
    const there = await this.#store.imports.read();
    if (there?.phase === 'committed') await this.#store.imports.settle(there.id);
  }

  #rules(nowMs: number): FieldRules {
    return { plans: this.#parts.plans(), scopes: this.#parts.scopes, nowMs };
  }

  #importedToken(body: Body, problems: string[]): string | null {
    if (!Object.hasOwn(body, 'key')) return null;
    const token = body['key'];
    if (!this.#parts.acceptImported) {
      problems.push(
        'key: bringing in keys of another form is off; leave it out to have one made, or turn on keys.accept_imported',
      );
    } else if (
      typeof token !== 'string' ||
      looksLikeToken(token) ||
      parseToken(token, this.#parts.environment, true) === null
    ) {
      problems.push('key: must be 16 to 512 visible ASCII characters that do not begin with ptg_ or pta_');
    } else {
      return token;
    }
    return null;
  }

  async #insert(
    fields: KeyFields & Pick<KeyRecord, 'limits'>,
    imported: string | null,
    customer: string | null,
    nowMs: number,
    actor: string,
  ): Promise<IssuedKey> {
    const { plan = '', name = '', note = '', scopes = null, expiresAtMs = null, limits } = fields;
    const { environment } = this.#parts;
    const changed = {
      ...(customer === null ? { plan } : { customer }),
      name,
      ...(note === '' ? {} : { note }),
      limits,
      scopes,
      expires: isoOrNull(expiresAtMs),
    };
    const action = imported === null ? 'created' : 'imported';
    return untilWritten(async () => {
      const made =
        imported === null
          ? makeToken(environment, newKeyId(customer))
          : { token: imported, ...parseToken(imported, environment, true)! };
      const secrets: readonly SecretHash[] = [{ hash: made.secretHash, endsAtMs: null }];
      const record: KeyRecord = {
        ...{ id: made.id, plan, name, note, status: 'enabled', createdAtMs: nowMs },
        ...{ expiresAtMs, scopes, limits, secrets, version: 1 },
      };
      await this.#write(undefined, record, { atMs: nowMs, actor, action, changed }).catch((error: unknown) => {
        if (error instanceof VersionConflict && imported !== null)
          throw new KeyRefused('conflict', ['key: this key is here already, or was until it was revoked']);
        throw error instanceof ChangeUncertain
          ? new ChangeUncertain(
              `${error.message} This made the key ${record.id}, whose secret is not shown: revoke it, and create another.`,
            )
          : error;
      });
      return { record, token: made.token };
    }, 'no free id was found; try again');
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

function refuseRevoked(record: KeyRecord): void {
  if (record.status === 'revoked')
    throw new KeyRefused('conflict', ['the key is revoked, and that is final; create a new one']);
}

function refuseCustomers({ id }: KeyRecord): void {
  const customer = customerOf(id);
  if (customer !== null)
    throw new KeyRefused('conflict', [
      `the limits of this key are its customer's: petgate customers grant ${customer}`,
    ]);
}

function changesOf(record: KeyRecord, next: KeyRecord): Record<string, unknown> {
  const changed = differences(record, next, HISTORY_FIELDS);
  if (record.expiresAtMs !== next.expiresAtMs)
    changed['expires'] = { from: isoOrNull(record.expiresAtMs), to: isoOrNull(next.expiresAtMs) };
  return changed;
}

function isoOrNull(atMs: number | null): string | null {
  return atMs === null ? null : new Date(atMs).toISOString();
}
