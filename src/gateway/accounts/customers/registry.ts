import type { CustomerRecord } from '../../store/records/customer.js';
import { correctionsOf, type CorrectionOf, type CorrectedStore } from '../../store/records/correction.js';
import type { AuditEntry } from '../../store/records/record.js';
import { changeTo, CUSTOMER_FIELDS, differences, NO_FREE_ID, valuesOf } from '../edits.js';
import {
  limits,
  limitsOn,
  name,
  note,
  nothingIn,
  planIn,
  readFields,
  reference,
  status,
  type Body,
  type FieldRules,
} from '../fields.js';
import { KeyRefused } from '../refused.js';
import { RecordRegistry, type RecordParts } from '../record-registry.js';
import { isCustomerId, looksLikeToken, newCustomerId } from '../token.js';

interface CustomersParts extends RecordParts<CustomerRecord>, Pick<FieldRules, 'costs'> {
  /** Contains the corrections of a customer's keys. */
  readonly keys: CorrectedStore;
}

const OPTIONAL = { reference: reference.optional(), note: note.optional(), limits: limits.optional() };

/** The body that creates a customer. */
export const newCustomer = (rules: Pick<FieldRules, 'plans'>) => ({
  name,
  plan: planIn(rules),
  ...OPTIONAL,
});
/** The body that changes a customer; omitted fields stay. */
export const customerChange = (rules: Pick<FieldRules, 'plans' | 'has'>) => ({
  name: name.optional(),
  plan: planIn(rules).optional(),
  ...OPTIONAL,
  status: status.optional(),
});

/** Which customers to list; absent fields do not filter. */
interface CustomerFilter {
  /** The complete reference. */
  readonly reference?: string;
  readonly plan?: string;
}

/** The life cycle of customers: create, find, change, close. */
export class CustomerRegistry extends RecordRegistry<CustomerRecord, CustomerFilter> {
  readonly #keys: CorrectedStore;
  readonly #costs: FieldRules['costs'];

  constructor({ costs, keys, ...parts }: CustomersParts) {
    super(parts, {
      name: 'customer',
      isId: isCustomerId,
      missing: 'no_customer',
      idInToken: "a customer's id is the first 8 characters of its keys' ids",
      refuseEnded: refuseClosed,
      // Limits are always a customer's own.
      refuseShared: () => undefined,
    });
    this.#keys = keys;
    this.#costs = costs;
  }

  /** @param body `{name, plan, reference?, note?, limits?}` */
  async create(body: Body, actor: string): Promise<CustomerRecord> {
    const nowMs = await this.nowMs();
    const problems: string[] = [];
    const plans = this.plans();
    const fields = readFields(body, newCustomer({ plans }), problems);
    const { name = '', plan = '', reference = '', note = '' } = fields;
    const onPlan = plans.get(plan);
    const own = onPlan === undefined ? null : limitsOn(onPlan, fields.limits, null, this.#costs, problems);
    if (problems.length > 0) throw new KeyRefused('invalid', problems);
    const values = { name, reference, plan, limits: own, note };
    const entry: AuditEntry = { atMs: nowMs, actor, action: 'created', changed: valuesOf(values) };
    const make = (): CustomerRecord => ({
      id: newCustomerId(),
      ...values,
      status: 'enabled',
      createdAtMs: nowMs,
      version: 1,
    });
    return this.insert(make, entry, ': check whether it exists.', NO_FREE_ID);
  }

  /** Returns the customer with this ID, or else this reference. Rejects also if several have the reference. */
  async find(idOrReference: string): Promise<CustomerRecord> {
    if (looksLikeToken(idOrReference)) return this.get(idOrReference);
    const named = isCustomerId(idOrReference) ? await this.store.read(idOrReference) : undefined;
    if (named !== undefined) return named;
    const found: CustomerRecord[] = [];
    for await (const some of this.all({ reference: idOrReference })) if (found.push(...some) > 1) break;
    const [customer, other] = found;
    if (customer === undefined) throw new KeyRefused('no_customer', ['no customer has this id or reference']);
    if (other === undefined) return customer;
    throw new KeyRefused('conflict', [
      `customers ${customer.id} and ${other.id} both have this reference: give the id of one`,
    ]);
  }

  /** @param body some of `{name, plan, reference, note, limits, status}` */
  async change(id: string, body: Body, actor: string): Promise<CustomerRecord> {
    return this.edit(id, actor, (record) => {
      refuseClosed(record);
      const plans = this.plans();
      const known = customerChange({ plans, has: record.plan });
      const problems = [...nothingIn(body, known)];
      const fields = readFields(body, known, problems);
      const plan = plans.get(fields.plan ?? record.plan);
      // A problem with the plan or the limits themselves is reported once, not twice.
      const own = problems.length > 0 ? null : limitsOn(plan, fields.limits, record.limits, this.#costs, problems);
      if (problems.length > 0) throw new KeyRefused('invalid', problems);
      const next = { ...record, ...fields, limits: own };
      return changeTo(next, 'changed', differences(record, next, CUSTOMER_FIELDS));
    });
  }

  /** Closes the customer and its keys permanently. The record stays, because the ledger refers to it. Idempotent. */
  async close(id: string, actor: string): Promise<CustomerRecord> {
    return this.edit(id, actor, (record) => {
      const next: CustomerRecord = { ...record, status: 'closed' };
      return changeTo(next, 'closed', differences(record, next, ['status']));
    });
  }

  protected override payerOf(record: CustomerRecord, history: readonly AuditEntry[]) {
    return Promise.resolve({ record, history });
  }

  protected override async relatedCorrections({ id: customer }: CustomerRecord): Promise<readonly CorrectionOf[]> {
    const found: CorrectionOf[] = [];
    for await (const some of correctionsOf(this.#keys, { customer })) found.push(...some);
    return found;
  }

  protected override passes(record: CustomerRecord, { reference, plan }: CustomerFilter): boolean {
    return (reference ?? record.reference) === record.reference && (plan ?? record.plan) === record.plan;
  }
}

function refuseClosed({ status }: CustomerRecord): void {
  if (status === 'closed')
    throw new KeyRefused('conflict', ['the customer is closed, and that is final; create a new one']);
}
