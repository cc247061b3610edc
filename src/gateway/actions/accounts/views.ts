import type { Plans } from '../../admission/plan.js';
import { isoOrNull } from '../../accounts/edits.js';
import { reasonsAgainst, type HeldKey } from '../../accounts/state.js';
import { AFTER_REFUSALS, type OutboxEntry, type OutboxState } from '../../store/outbox/event.js';
import type { Credit } from '../../store/records/credit.js';
import type { Ban } from '../../store/records/key.js';
import { customerOf } from '../../store/records/customer-id.js';
import type { CustomerRecord } from '../../store/records/customer.js';
import { inForce, type Grant } from '../../store/records/grant.js';
import { GATEWAY, type AuditEntry } from '../../store/records/record.js';
import type { AdminParts } from '../action.js';

// What operators see of stored records: never a secret or a hash.

/** Reason and actor of an automatic ban. */
const BY_ITSELF = { reason: AFTER_REFUSALS, actor: GATEWAY };
/** Bans read concurrently. */
const AT_ONCE = 250;

/** Returns keys with their effective plan and limits, each with its state. */
export async function keyViews({ registry, engine }: AdminParts, keys: readonly HeldKey[]): Promise<readonly object[]> {
  const bans: (Ban | undefined)[] = [];
  for (let from = 0; from < keys.length; from += AT_ONCE)
    bans.push(...(await Promise.all(keys.slice(from, from + AT_ONCE).map(({ id }) => engine.bans.read(id)))));
  const nowMs = await registry.nowMs();
  return keys.map((key, n) => keyView(registry.plans(), key, bans[n], nowMs));
}

export function keyView(plans: Plans, key: HeldKey, ban: Ban | undefined, nowMs: number): object {
  const { id, name, plan, status, limits, grants, scopes, note, createdAtMs, expiresAtMs } = key;
  const reasons = reasonsAgainst(key, ban, plans, nowMs);
  return {
    ...{ id, name, customer: customerOf(id), plan, status, state: reasons[0] ?? 'enabled', reasons },
    ...{ ban: ban === undefined ? null : banView(ban), limits, grants: grantsView(grants, nowMs), scopes, note },
    ...creditedIn(key, plans),
    ...{ created: isoOrNull(createdAtMs), expires: isoOrNull(expiresAtMs) },
    secrets: key.secrets.map(({ endsAtMs }) => ({ ends: isoOrNull(endsAtMs) })),
  };
}

/** Returns customers as they are now. */
export async function customerViews({ registry }: AdminParts, customers: readonly CustomerRecord[]) {
  const nowMs = await registry.nowMs();
  return customers.map((record) => customerView(record, nowMs, registry.plans()));
}

function customerView(record: CustomerRecord, nowMs: number, plans: Plans): object {
  const { id, name, reference, plan, status, limits, grants, note, createdAtMs } = record;
  const created = isoOrNull(createdAtMs);
  const shown = { id, name, reference, plan, status, limits, grants: grantsView(grants, nowMs), note, created };
  return { ...shown, ...creditedIn(record, plans) };
}

/** On a prepaid plan, shows the sum of credits even if there are none yet. */
function creditedIn({ plan, credited }: Pick<HeldKey, 'plan' | 'credited'>, plans: Plans): object {
  if (credited === undefined && plans.get(plan)?.isPrepaid !== true) return {};
  return { credited: credited ?? 0 };
}

/** Returns the grants in force. */
export function grantsView(grants: readonly Grant[] = [], nowMs: number): readonly object[] {
  return inForce(grants, nowMs).map(grantView);
}

export function grantView({ id, window, units, untilMs, note, actor, atMs }: Grant): object {
  return { id, window, units, until: isoOrNull(untilMs), note, by: actor, at: isoOrNull(atMs) };
}

export function creditView({ id, units, note, actor, atMs, sum }: Credit): object {
  return { id, units, note, by: actor, at: isoOrNull(atMs), sum };
}

export function entryView({ atMs, actor, action, changed }: AuditEntry): object {
  return { at: isoOrNull(atMs), actor: actor ?? null, action, changed };
}

export function banView({ keyId, untilMs, level, note }: Ban): object {
  const { reason, actor } = note ?? BY_ITSELF;
  return { key: keyId, until: isoOrNull(untilMs), level, reason, by: actor };
}

export function eventView({ event, attempts, failure, dueAtMs, deadAtMs }: OutboxEntry): object {
  const { id, type, atMs, data } = event;
  const [time, due, dead] = [atMs, dueAtMs, deadAtMs].map(isoOrNull);
  const state: OutboxState = deadAtMs !== null ? 'dead' : atMs > Date.now() ? 'scheduled' : 'waiting';
  return { id, type, time, data, state, attempts, failure, due, dead };
}
