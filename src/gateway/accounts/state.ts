import { termsOf, type Plans } from '../admission/plan.js';
import type { Ban, KeyRecord } from '../store/records/key.js';
import type { CustomerStatus } from '../store/records/customer.js';

/** A key with its effective plan, limits and grants: its customer's, if it has one. */
export interface HeldKey extends KeyRecord {
  readonly customerStatus?: CustomerStatus;
}

/** Why a key is refused, in the order of the gateway's checks. */
export const REFUSED_AS = [
  'revoked',
  'disabled',
  'expired',
  'customer_closed',
  'customer_disabled',
  'plan_gone',
  'banned',
] as const;
type RefusedAs = (typeof REFUSED_AS)[number];

/** Returns all reasons to refuse a key now, the decisive one first; empty if it is valid. */
export function reasonsAgainst(
  { status, expiresAtMs, customerStatus = 'enabled', plan, limits }: HeldKey,
  ban: Ban | undefined,
  plans: Plans,
  nowMs: number,
): readonly RefusedAs[] {
  const isTrue: Readonly<Record<RefusedAs, boolean>> = {
    revoked: status === 'revoked',
    disabled: status === 'disabled',
    expired: expiresAtMs !== null && expiresAtMs <= nowMs,
    customer_closed: customerStatus === 'closed',
    customer_disabled: customerStatus === 'disabled',
    plan_gone: termsOf(plans, plan, limits) === undefined,
    banned: ban !== undefined,
  };
  return REFUSED_AS.filter((reason) => isTrue[reason]);
}
