import { z } from 'zod';
import type { CustomerStore } from '../store/records/customer.js';
import type { KeyRecord } from '../store/records/key.js';
import type { AuditEntry } from '../store/records/record.js';
import { ChangeUncertain, VersionConflict } from '../store/port.js';
import { readCustomer } from './customers/of-key.js';
import { isoOrNull, untilWritten } from './edits.js';
import { expiresAfter, limits, limitsOn, name, note, planIn, readFields, scopesIn } from './fields.js';
import type { Body, FieldRules, Prices } from './fields.js';
import { KeyRefused } from './refused.js';
import { makeToken, newKeyId, parseToken } from './token.js';

/** A key with its token, which is shown this once and then nowhere. */
export interface IssuedKey {
  readonly record: KeyRecord;
  readonly token: string;
}

/** What a new key is measured by. */
interface CreateRules extends FieldRules, Prices {
  readonly customers: CustomerStore;
  /** Stands in each token. */
  readonly environment: string;
  /** Whether tokens of another form may be brought in. */
  readonly acceptImported: boolean;
}

/** What was asked for, checked. */
interface NewKey extends Pick<KeyRecord, 'plan' | 'name' | 'note' | 'limits' | 'scopes' | 'expiresAtMs'> {
  /** A token of another form that is brought in; null: one is made. */
  readonly imported: string | null;
  /** The customer's id; null for a key on its own. */
  readonly customer: string | null;
}

const TOKEN_FORM = 'must be 16 to 512 visible ASCII characters that do not begin with ptg_ or pta_';

/** The body that makes a key. */
export const newKey = (rules: FieldRules) => ({
  plan: planIn(rules).optional().describe('Required without a customer'),
  name,
  note: note.optional(),
  limits: limits.optional(),
  scopes: scopesIn(rules).optional(),
  expires: expiresAfter(rules.nowMs).optional(),
  key: z
    .string(TOKEN_FORM)
    .regex(/^(?!pt[ga]_)[\x21-\x7e]{16,512}$/, TOKEN_FORM)
    .optional()
    .describe('A token of another form, to be brought in'),
  customer: z.string().optional().describe('Whose plan and limits it shares'),
});

/**
 * Checks what is asked for and writes it as a new key. Rejects with KeyRefused for what the caller can put right,
 * with ChangeUncertain, and with what `write` and the store of customers reject with.
 * @param body `{plan, name, note?, limits?, scopes?, expires?, key?}`; `key` brings in a token of another form.
 * Of a customer `{customer, name, note?, scopes?, expires?}`
 */
export async function createKey(
  body: Body,
  rules: CreateRules,
  actor: string,
  write: (record: KeyRecord, entry: AuditEntry) => Promise<void>,
): Promise<IssuedKey> {
  const asked = await readNewKey(body, rules);
  const { imported, customer, ...fields } = asked;
  const { nowMs: atMs, environment } = rules;
  const action = imported === null ? 'created' : 'imported';
  const entry: AuditEntry = { atMs, actor, action, changed: asHistoryShows(asked) };
  return untilWritten(async () => {
    const { id, token, secretHash } =
      imported === null
        ? makeToken(environment, newKeyId(customer))
        : { token: imported, ...parseToken(imported, environment, true)! };
    const secrets = [{ hash: secretHash, endsAtMs: null }];
    const record: KeyRecord = { ...fields, id, status: 'enabled', createdAtMs: atMs, secrets, version: 1 };
    await write(record, entry).catch((error: unknown) => {
      throw explained(error, record.id, imported !== null);
    });
    return { record, token };
  }, 'no free id was found; try again');
}

async function readNewKey(body: Body, rules: CreateRules): Promise<NewKey> {
  const problems: string[] = [];
  const isCustomers = Object.hasOwn(body, 'customer');
  if (!isCustomers && !Object.hasOwn(body, 'plan')) problems.push('plan: is required');
  const fields = readFields(body, newKey(rules), problems);
  const customer = await readCustomer(rules.customers, body, problems);
  const { plan = '', name = '', note = '', scopes = null, expires: expiresAtMs = null, key: imported = null } = fields;
  if (!rules.acceptImported && !isCustomers && imported !== null)
    problems.push(
      'key: bringing in keys of another form is off; leave it out to have one made, or turn on keys.accept_imported',
    );
  const onPlan = isCustomers ? undefined : rules.plans.get(plan);
  const own = onPlan === undefined ? null : limitsOn(onPlan, fields.limits, null, rules, problems);
  if (problems.length > 0) throw new KeyRefused('invalid', problems);
  return { plan, name, note, limits: own, scopes, expiresAtMs, imported, customer: customer?.id ?? null };
}

function asHistoryShows({ customer, plan, name, note, limits, scopes, expiresAtMs }: NewKey): AuditEntry['changed'] {
  return {
    ...(customer === null ? { plan } : { customer }),
    name,
    ...(note === '' ? {} : { note }),
    limits,
    scopes,
    expires: isoOrNull(expiresAtMs),
  };
}

function explained(error: unknown, id: string, isImported: boolean): unknown {
  if (error instanceof VersionConflict && isImported)
    return new KeyRefused('conflict', ['key: this key is here already, or was until it was revoked']);
  return error instanceof ChangeUncertain
    ? new ChangeUncertain(
        `${error.message} This made the key ${id}, whose secret is not shown: revoke it, and create another.`,
      )
    : error;
}
