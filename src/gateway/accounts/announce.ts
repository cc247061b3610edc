import { aboutKey, banEvent } from '../store/records/facts.js';
import type { EventType, GatewayEvent, OutboxChange } from '../store/outbox/event.js';
import type { KeyChange, KeyRecord } from '../store/records/key.js';
import type { AuditEntry } from '../store/records/record.js';
import { randomBase62 } from '../../shared/base62.js';

const TYPES: Readonly<Partial<Record<AuditEntry['action'], EventType>>> = {
  created: 'petgate.key.created',
  imported: 'petgate.key.created',
  changed: 'petgate.key.changed',
  rotated: 'petgate.key.changed',
  granted: 'petgate.key.changed',
  withdrawn: 'petgate.key.changed',
  revoked: 'petgate.key.revoked',
};
/** The changed fields in events, for changes whose history entry has other names. */
const CHANGED: Readonly<Partial<Record<AuditEntry['action'], readonly string[]>>> = {
  rotated: ['secrets'],
  granted: ['grants'],
  withdrawn: ['grants'],
};
const RANDOM_LENGTH = 12;
/** How long before the end of a key its event is emitted. */
const EXPIRING_MS = 7 * 86_400_000;

/**
 * Returns the events of a key's change: the change itself, and the key's end, which moves with it.
 * @param before the record before; undefined for a new key
 * @param held the record after, with the effective plan
 * @param ban a ban by hand that starts with it
 */
export function outboxChange(
  before: KeyRecord | undefined,
  held: KeyRecord,
  entry: AuditEntry,
  ban?: KeyChange['ban'],
): OutboxChange {
  const [then, now] = [endOf(before), endOf(held)];
  const event = ban
    ? banEvent(held.id, held.plan, { ...ban, level: 1, reason: ban.note?.reason ?? null }, entry.atMs)
    : eventOf(held, entry);
  return {
    emit: [
      ...(event === undefined ? [] : [event]),
      ...(now === null || now === then ? [] : [expiringEvent(held.id, now, entry.atMs)]),
    ],
    withdraw: then === null || now === then ? [] : [expiringId(held.id, then)],
  };
}

/** Returns the event of a change; undefined if the key itself did not change. */
function eventOf({ id: key, plan }: KeyRecord, entry: AuditEntry): GatewayEvent | undefined {
  const type = TYPES[entry.action];
  if (type === undefined) return undefined;
  const changed = CHANGED[entry.action] ?? Object.keys(entry.changed);
  const data = { ...aboutKey(key), plan, ...(type === 'petgate.key.changed' ? { changed } : {}) };
  return { id: `${key}-${randomBase62(RANDOM_LENGTH)}`, type, atMs: entry.atMs, data };
}

/** Revoked keys no longer have an end to announce. */
function endOf(record: KeyRecord | undefined): number | null {
  return record === undefined || record.status === 'revoked' ? null : record.expiresAtMs;
}

/** Without the plan, which may have changed by then. */
function expiringEvent(key: string, endMs: number, nowMs: number): GatewayEvent {
  return {
    id: expiringId(key, endMs),
    type: 'petgate.key.expiring',
    atMs: Math.max(nowMs, endMs - EXPIRING_MS),
    data: { ...aboutKey(key), ends: new Date(endMs).toISOString() },
  };
}

function expiringId(key: string, endMs: number): string {
  return `${key}-expiring-${endMs}`;
}
