import { aboutKey, banEvent } from '../store/outbox/facts.js';
import type { EventType, GatewayEvent, OutboxChange } from '../store/outbox/event.js';
import type { KeyChange } from '../store/port.js';
import type { KeyRecord } from '../store/records/key.js';
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
/** What is notified of changes whose entry names something else than fields. */
const CHANGED: Readonly<Partial<Record<AuditEntry['action'], readonly string[]>>> = {
  rotated: ['secrets'],
  granted: ['grants'],
  withdrawn: ['grants'],
};
const RANDOM_LENGTH = 12;
/** How long before its end a key is notified of. */
const EXPIRING_MS = 7 * 86_400_000;

/**
 * What a change of a key means for the outbox: the event that says so, and that of its end, which moves with it.
 * @param before the record as it was; undefined of a new key
 * @param held the record as it is now, with the plan that holds for it
 * @param ban one that begins with it, by hand
 */
export function outboxChange(
  before: KeyRecord | undefined,
  held: KeyRecord,
  entry: AuditEntry,
  ban?: KeyChange['ban'],
): OutboxChange {
  const [then, now] = [endOf(before), endOf(held)];
  const event = ban ? banByHand(held, ban, entry.atMs) : eventOf(held, entry);
  return {
    emit: [
      ...(event === undefined ? [] : [event]),
      ...(now === null || now === then ? [] : [expiringEvent(held.id, now, entry.atMs)]),
    ],
    withdraw: then === null || now === then ? [] : [expiringId(held.id, then)],
  };
}

function banByHand(
  { id, plan }: KeyRecord,
  { untilMs, note }: NonNullable<KeyChange['ban']>,
  atMs: number,
): GatewayEvent {
  return banEvent(id, plan, { untilMs, level: 1, reason: note?.reason ?? null }, atMs);
}

/** The event of a change of a key; undefined where the change is none of the key itself. */
function eventOf({ id: key, plan }: KeyRecord, entry: AuditEntry): GatewayEvent | undefined {
  const type = TYPES[entry.action];
  if (type === undefined) return undefined;
  const changed = CHANGED[entry.action] ?? Object.keys(entry.changed);
  const data = { ...aboutKey(key), plan, ...(type === 'petgate.key.changed' ? { changed } : {}) };
  return { id: `${key}-${randomBase62(RANDOM_LENGTH)}`, type, atMs: entry.atMs, data };
}

/** Of a revoked key there is no end any more that anybody should hear of. */
function endOf(record: KeyRecord | undefined): number | null {
  return record === undefined || record.status === 'revoked' ? null : record.expiresAtMs;
}

/** Its plan may be another by then: it is left out. */
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
