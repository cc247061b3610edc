import { ChangeUncertain } from '../records/conflicts.js';
import { NO_CHANGE } from '../outbox/event.js';
import { isCustomer } from '../records/customer-id.js';
import type { CustomerRecord } from '../records/customer.js';
import type { KeyRecord } from '../records/key.js';
import { GATEWAY, type AuditEntry } from '../records/record.js';
import type { RedisEngine } from '../redis/engine.js';
import { untilUncontested, withRetry } from '../records/retry.js';
import type { Cached, CachedKey } from './cached.js';

type Account = KeyRecord | CustomerRecord;
type Field = keyof KeyRecord | keyof CustomerRecord;

/** Who may use a key, and for what: losing a change of these can allow again what was forbidden. */
const RIGHTS: readonly Field[] = ['status', 'secrets', 'expiresAtMs', 'scopes'];
const TERMS: readonly Field[] = ['plan', 'limits', 'grants'];
const REASON = 'written back by a gateway: Redis was restored to an older state';

/** Returns whether the record in Redis lacks a change of who may use the key, or for what. */
export function lacksRestriction(stored: Account, { record }: Cached): boolean {
  return differing(stored, record, RIGHTS).length > 0;
}

/**
 * Writes to Redis what it lacks of a copy: a newer record, a final end (revoked, closed), a ban in force. Resolves to
 * false if Redis has no such record: a missing key is not valid. Rejects with StoreUnavailable.
 */
export async function writeBack(engine: RedisEngine, id: string, copy: Cached): Promise<boolean> {
  const nowMs = await withRetry(() => engine.fleet.nowMs());
  const isThere = await (isCustomer(id)
    ? writeRecord(engine.customers, copy.record as CustomerRecord, nowMs)
    : writeRecord(engine.keys, copy.record as KeyRecord, nowMs));
  if (isThere && 'ban' in copy) await writeBan(engine, id, copy.ban, nowMs);
  return isThere;
}

async function writeRecord<R extends Account>(
  store: {
    read(id: string): Promise<R | undefined>;
    overtake(record: R, over: number, entry: AuditEntry): Promise<void>;
  },
  copy: R,
  nowMs: number,
): Promise<boolean> {
  return untilUncontested(() =>
    withRetry(async () => {
      const stored = await store.read(copy.id);
      if (stored === undefined) return false;
      if (!isBetter(copy, stored)) return true;
      const next = merged(stored, copy);
      await settled(store.overtake(next, stored.version, entryOf(stored, next, nowMs)));
      return true;
    }),
  );
}

async function writeBan({ bans, keys }: RedisEngine, id: string, ban: CachedKey['ban'], atMs: number): Promise<void> {
  if (ban === null || ban.untilMs <= atMs) return;
  const { untilMs } = ban;
  const changed = { until: isoOrNull(untilMs), reason: REASON };
  await untilUncontested(() =>
    withRetry(async () => {
      const [record, stored] = await Promise.all([keys.read(id), bans.read(id)]);
      if (record === undefined || (stored?.untilMs ?? 0) >= untilMs) return;
      const next = { ...record, version: record.version + 1 };
      const by = { ...NO_CHANGE, ban: { untilMs, note: { reason: REASON, actor: GATEWAY } } };
      await settled(keys.write(next, { atMs, actor: GATEWAY, action: 'banned', changed }, by));
    }),
  );
}

/** Accepts a change that no replica has confirmed. */
async function settled(write: Promise<void>): Promise<void> {
  await write.catch((error: unknown) => {
    if (!(error instanceof ChangeUncertain)) throw error;
  });
}

function isBetter(copy: Account, stored: Account): boolean {
  if (copy.version > stored.version) return true;
  return (copy.status === 'revoked' || copy.status === 'closed') && stored.status !== copy.status;
}

/**
 * Returns the copy with the names and notes that copies lack, and the credits that the history has: who sends the lost
 * ones again adds them once. Its version is above both, so it replaces all copies.
 */
function merged<R extends Account>(stored: R, copy: R): R {
  const { name, note, credited, grants = [] } = stored;
  const noteOf = (grant: { readonly id: unknown }): string => grants.find(({ id }) => id === grant.id)?.note ?? '';
  return {
    ...copy,
    ...{ name, note, version: Math.max(stored.version, copy.version) + 1 },
    ...(copy.credited === undefined && credited === undefined ? {} : { credited: credited ?? 0 }),
    ...('reference' in stored ? { reference: stored.reference } : {}),
    ...(copy.grants === undefined ? {} : { grants: copy.grants.map((grant) => ({ ...grant, note: noteOf(grant) })) }),
  };
}

/** Returns the history entry of the change that Redis lost; histories contain no secrets. */
function entryOf(stored: Account, next: Account, atMs: number): AuditEntry {
  const { status } = next;
  const isEnd = (status === 'revoked' || status === 'closed') && stored.status !== status;
  const shown = [...RIGHTS, ...TERMS].filter((field) => field !== 'secrets');
  const changed = differing(stored, next, shown).map((field): [string, unknown] => {
    const [from, to] = [fieldIn(stored, field), fieldIn(next, field)];
    if (field === 'expiresAtMs') return ['expires', { from: isoOrNull(from), to: isoOrNull(to) }];
    return [field, { from, to }];
  });
  return {
    atMs,
    actor: GATEWAY,
    action: isEnd ? status : 'changed',
    changed: { ...Object.fromEntries(changed), reason: REASON },
  };
}

function differing(one: Account, other: Account, fields: readonly Field[]): readonly Field[] {
  return fields.filter((field) => JSON.stringify(fieldIn(one, field)) !== JSON.stringify(fieldIn(other, field)));
}

function fieldIn(record: Account, field: Field): unknown {
  return (record as Partial<Record<Field, unknown>>)[field] ?? null;
}

function isoOrNull(atMs: unknown): string | null {
  return typeof atMs === 'number' ? new Date(atMs).toISOString() : null;
}
