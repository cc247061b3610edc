import { ChangeUncertain } from '../../store/port.js';
import type { AdmissionEngine } from '../../store/port.js';
import type { CustomerRecord, CustomerStore } from '../../store/records/customer.js';
import type { Webhook } from '../../store/records/webhook.js';
import type { AuditEntry } from '../../store/records/record.js';
import type { Plans } from '../../admission/plan.js';
import type { Clock } from '../clock.js';
import { differences, untilWritten } from '../edits.js';
import { limits, limitsOn, name, note, nothingIn, planIn, readFields, reference, status } from '../fields.js';
import { granted, withdrawn, withoutPast } from '../grants.js';
import type { Body, FieldRules, Prices } from '../fields.js';
import { KeyRefused } from '../refused.js';
import { findCustomer, scanCustomers } from './listing.js';
import type { CustomerFilter, CustomerPage } from './listing.js';
import { isCustomerId, looksLikeToken, newCustomerId } from '../token.js';

interface CustomersParts extends Prices {
  readonly engine: Pick<AdmissionEngine, 'customers'>;
  /** Asked each time: a reload may change them. */
  readonly plans: () => Plans;
  readonly clock: Clock;
}

/** The body that makes a customer. */
export const newCustomer = (rules: Pick<FieldRules, 'plans'>) => ({
  name,
  plan: planIn(rules),
  reference: reference.optional(),
  note: note.optional(),
  limits: limits.optional(),
});
/** The body that changes one; what is left out stays. */
export const customerChange = (rules: Pick<FieldRules, 'plans' | 'has'>) => ({
  name: name.optional(),
  plan: planIn(rules).optional(),
  reference: reference.optional(),
  note: note.optional(),
  limits: limits.optional(),
  status: status.optional(),
});
/** In the order in which history shows them. */
const HISTORY_FIELDS = ['name', 'reference', 'plan', 'limits', 'note', 'status'] as const;

/** A change worked out on one version of a record; nothing changed where there is nothing to change. */
type Edit = (record: CustomerRecord, nowMs: number) => Edited | Promise<Edited>;
interface Edited extends Pick<AuditEntry, 'action' | 'changed'> {
  readonly next: CustomerRecord;
  /** Left out, it stays. */
  readonly webhook?: Webhook | null;
}

/** A change of a webhook: what is there afterwards, null for none; as an answer null for no change. */
type EditWebhook = (
  before: Webhook | undefined,
  nowMs: number,
) => { readonly webhook: Webhook | null; readonly changed: AuditEntry['changed'] } | null;

/**
 * The life of customers: create, find, change, close. Every change is checked whole before anything is written,
 * and lands in the customer's history. All methods reject with KeyRefused for what the caller can put right,
 * StoreUnavailable when the store is away, ChangeUncertain when no replica confirmed a change.
 */
export class CustomerRegistry {
  readonly #store: CustomerStore;
  readonly #parts: CustomersParts;

  constructor(parts: CustomersParts) {
    this.#store = parts.engine.customers;
    this.#parts = parts;
  }

  /** @param body `{name, plan, reference?, note?, limits?}` */
  async create(body: Body, actor: string): Promise<CustomerRecord> {
    const nowMs = await this.#parts.clock();
    const problems: string[] = [];
    const plans = this.#parts.plans();
    const fields = readFields(body, newCustomer({ plans }), problems);
    const { name = '', plan = '', reference = '', note = '' } = fields;
    const onPlan = plans.get(plan);
    const own = onPlan === undefined ? null : limitsOn(onPlan, fields.limits, null, this.#parts, problems);
    if (problems.length > 0) throw new KeyRefused('invalid', problems);
    const values = { name, reference, plan, limits: own, note };
    const changed = {
      plan,
      name,
      ...(reference === '' ? {} : { reference }),
      ...(note === '' ? {} : { note }),
      limits: own,
    };
    return this.#insert(values, { atMs: nowMs, actor, action: 'created', changed });
  }

  async get(id: string): Promise<CustomerRecord> {
    const record = isCustomerId(id) ? await this.#store.read(id) : undefined;
    if (record !== undefined) return record;
    const hint = looksLikeToken(id)
      ? "a whole key was given: a customer's id is the first 8 characters of its keys' ids"
      : 'no customer has this id';
    throw new KeyRefused('no_customer', [hint]);
  }

  /** The customer of this id or reference. */
  async find(idOrReference: string): Promise<CustomerRecord> {
    return looksLikeToken(idOrReference) ? this.get(idOrReference) : findCustomer(this.#store, idOrReference);
  }

  /** Customers by id, a page at a time. */
  list(filter: CustomerFilter, cursor: string | null, count: number): Promise<CustomerPage> {
    return scanCustomers(this.#store, filter, cursor, count);
  }

  async history(id: string): Promise<readonly AuditEntry[]> {
    const { id: known } = await this.get(id);
    return this.#store.history(known);
  }

  /** @param body some of `{name, plan, reference, note, limits, status}` */
  async change(id: string, body: Body, actor: string): Promise<CustomerRecord> {
    return this.#edit(id, actor, (record) => {
      refuseClosed(record);
      const plans = this.#parts.plans();
      const known = customerChange({ plans, has: record.plan });
      const problems = [...nothingIn(body, known)];
      const fields = readFields(body, known, problems);
      const plan = plans.get(fields.plan ?? record.plan);
      // A problem with the plan or the limits themselves is reported once, not twice.
      const own = problems.length > 0 ? null : limitsOn(plan, fields.limits, record.limits, this.#parts, problems);
      if (problems.length > 0) throw new KeyRefused('invalid', problems);
      const next = { ...record, ...fields, limits: own };
      return { next, action: 'changed', changed: differences(record, next, HISTORY_FIELDS) };
    });
  }

  /** Ends the customer with all its keys for ever; the record stays, because the ledger names it. Closing twice is no error. */
  async close(id: string, actor: string): Promise<CustomerRecord> {
    return this.#edit(id, actor, (record) => {
      const next: CustomerRecord = { ...record, status: 'closed' };
      return { next, action: 'closed', changed: differences(record, next, HISTORY_FIELDS) };
    });
  }

  /** More of one window for a while, for all keys together. @param body `{window, units, until, note?}` */
  async grant(id: string, body: Body, actor: string): Promise<CustomerRecord> {
    return this.#edit(id, actor, (record, nowMs) => {
      refuseClosed(record);
      return granted(record, body, this.#parts.plans(), nowMs, actor);
    });
  }

  /** Ends a grant now. */
  async withdraw(id: string, grant: string, actor: string): Promise<void> {
    await this.#edit(id, actor, (record, nowMs) => withdrawn(record, grant, nowMs));
  }

  /** Where the customer is told of its keys; undefined for nowhere. */
  async webhook(id: string): Promise<Webhook | undefined> {
    const { id: known } = await this.get(id);
    return this.#store.webhook(known);
  }

  async editWebhook(id: string, actor: string, edit: EditWebhook): Promise<void> {
    await this.#edit(id, actor, async (record, nowMs) => {
      const edited = edit(await this.#store.webhook(record.id), nowMs);
      if (edited === null) return { next: record, action: 'changed', changed: {} };
      return { next: record, action: 'changed', ...edited };
    });
  }

  async #insert(
    values: Pick<CustomerRecord, 'name' | 'reference' | 'plan' | 'limits' | 'note'>,
    entry: AuditEntry,
  ): Promise<CustomerRecord> {
    return untilWritten(async () => {
      const id = newCustomerId();
      const record: CustomerRecord = { id, ...values, status: 'enabled', createdAtMs: entry.atMs, version: 1 };
      await this.#store.write(record, entry).catch((error: unknown) => {
        throw error instanceof ChangeUncertain
          ? new ChangeUncertain(`${error.message} This made the customer ${id}: look whether it is there.`)
          : error;
      });
      return record;
    }, 'no free id was found; try again');
  }

  async #edit(id: string, actor: string, edit: Edit): Promise<CustomerRecord> {
    return untilWritten(async () => {
      const record = await this.get(id);
      const nowMs = await this.#parts.clock();
      const { next, action, changed, webhook } = await edit(record, nowMs);
      if (Object.keys(changed).length === 0) {
        await this.#store.confirm(record.id);
        return record;
      }
      const written = { ...withoutPast(next, nowMs), version: record.version + 1 };
      await this.#store.write(written, { atMs: nowMs, actor, action, changed }, webhook);
      return written;
    }, 'the customer is being changed by somebody else; try again');
  }
}

function refuseClosed({ status }: CustomerRecord): void {
  if (status === 'closed')
    throw new KeyRefused('conflict', ['the customer is closed, and that is final; create a new one']);
}
