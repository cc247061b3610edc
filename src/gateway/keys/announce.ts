import type { EventType, GatewayEvent } from '../admission/events/outbox.js';
import { customerOf } from '../admission/customers/id.js';
import type { AuditEntry, KeyRecord } from '../admission/key-record.js';
import { randomBase62 } from './base62.js';

const TYPES: Readonly<Partial<Record<AuditEntry['action'], EventType>>> = {
  created: 'petgate.key.created',
  imported: 'petgate.key.created',
  changed: 'petgate.key.changed',
  rotated: 'petgate.key.changed',
  granted: 'petgate.key.changed',
  withdrawn: 'petgate.key.changed',
  revoked: 'petgate.key.revoked',
};
/** What is told of changes whose entry names something else than fields. */
const CHANGED: Readonly<Partial<Record<AuditEntry['action'], readonly string[]>>> = {
  rotated: ['secrets'],
  granted: ['grants'],
  withdrawn: ['grants'],
};
const RANDOM_LENGTH = 12;

/** The event of a change of a key; undefined where the change is none of the key itself. */
export function eventOf({ id: key, plan }: KeyRecord, entry: AuditEntry): GatewayEvent | undefined {
  const type = TYPES[entry.action];
  if (type === undefined) return undefined;
  const changed = CHANGED[entry.action] ?? Object.keys(entry.changed);
  const data = { customer: customerOf(key), key, plan, ...(type === 'petgate.key.changed' ? { changed } : {}) };
  return { id: `${key}-${randomBase62(RANDOM_LENGTH)}`, type, atMs: entry.atMs, data };
}
