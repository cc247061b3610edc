import { z } from 'zod';
import type { CustomerStore } from '../../store/records/customer.js';
import { readCustomer } from '../customers/of-key.js';
import { keyFields, limitsOn, name, planIn, readFields, type Body, type FieldRules } from '../fields.js';
import { KeyRefused } from '../refused.js';

const TOKEN_FORM = 'must be 16 to 512 visible ASCII characters that do not begin with ptg_ or pta_';

/** The body that creates a key. */
export const newKey = (rules: FieldRules) => ({
  ...keyFields(rules),
  plan: planIn(rules).optional().describe('Required without a customer'),
  name,
  key: z
    .string(TOKEN_FORM)
    .regex(/^(?!pt[ga]_)[\x21-\x7e]{16,512}$/, TOKEN_FORM)
    .optional()
    .describe('An existing key of another form')
    .meta({ writeOnly: true }),
  customer: z.string().optional().describe('Whose plan and limits it shares'),
});

/**
 * Returns the fields of the new key, with an imported token of another form and the customer's ID, null if it has none.
 * Rejects with KeyRefused.
 */
export async function readNewKey(body: Body, rules: FieldRules, customers: CustomerStore) {
  const problems: string[] = [];
  const isCustomers = Object.hasOwn(body, 'customer');
  if (!isCustomers && !Object.hasOwn(body, 'plan'))
    problems.push('plan: is required; or give the customer whose plan the key shares');
  const fields = readFields(body, newKey(rules), problems);
  const customer = await readCustomer(customers, body, problems);
  const { plan = '', name = '', note = '', scopes = null, expires: expiresAtMs = null, key: imported = null } = fields;
  if (!rules.acceptImported && !isCustomers && imported !== null)
    problems.push(
      'key: importing keys of another form is off; leave it out to create one, or turn on keys.accept_imported',
    );
  const onPlan = isCustomers ? undefined : rules.plans.get(plan);
  const own = onPlan === undefined ? null : limitsOn(onPlan, fields.limits, null, rules.costs, problems);
  if (problems.length > 0) throw new KeyRefused('invalid', problems);
  return { plan, name, note, limits: own, scopes, expiresAtMs, imported, customer: customer?.id ?? null };
}
