import { customerOf } from '../../store/records/customer-id.js';
import type { CustomerRecord } from '../../store/records/customer.js';
import { AFTER_REFUSALS, allEntries, isOperatorsReason, type Outbox } from '../../store/outbox/event.js';
import type { KeyRecord } from '../../store/records/key.js';
import type { AuditEntry, RecordStore, StoredRecord } from '../../store/records/record.js';
import type { AdmissionEngine } from '../../store/port.js';
import { untilWritten } from '../edits.js';
import { KeyRefused } from '../refused.js';
import type { KeyRegistry } from './registry.js';

/** The part of both stores that erasing needs. */
type ErasableStore<R extends StoredRecord> = Pick<RecordStore<R, never>, 'history' | 'rewrite'>;

/** History fields without personal data. Any other may be text, and is removed. */
const IMPERSONAL: ReadonlySet<string> = new Set([
  'plan',
  'customer',
  'status',
  'limits',
  'scopes',
  'expires',
  'until',
  'level',
  'grant',
  'window',
  'units',
  'oldSecretEnds',
  'othersEndedAtOnce',
  'webhook',
  'correction',
  'day',
  'requests',
  'credit',
  'sum',
]);

/** What erasing works on. */
interface ErasureParts {
  readonly registry: KeyRegistry;
  readonly engine: Pick<AdmissionEngine, 'keys' | 'customers' | 'outbox'>;
}

const ERASED_AT_ONCE = 32;

/**
 * Removes name and notes of a revoked key from its record and its whole history, and records that. Who did what and
 * when stays, as do the ID and all figures. Idempotent. Rejects with KeyRefused.
 */
export async function eraseKey(parts: ErasureParts, id: string, actor: string): Promise<void> {
  const { id: known } = await parts.registry.get(id);
  const customer = customerOf(known);
  const isCustomerClosed = customer !== null && (await parts.registry.customers.get(customer)).status === 'closed';
  await eraseOne(parts, id, actor, isCustomerClosed);
  await forgetReasons(parts.engine.outbox, (key) => key === id);
}

/** Does the same for a closed customer, its reference and all its keys. If interrupted, run it again. */
export async function eraseCustomer({ registry, engine }: ErasureParts, id: string, actor: string): Promise<void> {
  const closed = async (): Promise<CustomerRecord> => {
    const record = await registry.customers.get(id);
    if (record.status === 'closed') return record;
    throw new KeyRefused('conflict', [
      `the customer is ${record.status}, and only a closed one can be erased: first petgate customers close ` +
        `${id}, which is final for all its keys`,
    ]);
  };
  await closed();
  const keys = await registry.keysOf(id);
  for (let from = 0; from < keys.length; from += ERASED_AT_ONCE)
    await Promise.all(
      keys.slice(from, from + ERASED_AT_ONCE).map((key) => eraseOne({ registry, engine }, key.id, actor, true)),
    );
  await erase(engine.customers, closed, await registry.nowMs(), actor);
  await forgetReasons(engine.outbox, (key) => customerOf(key) === id);
}

/** @param isCustomerClosed if true, the key need not be revoked */
async function eraseOne(
  { registry, engine }: ErasureParts,
  id: string,
  actor: string,
  isCustomerClosed: boolean,
): Promise<void> {
  const ended = async (): Promise<KeyRecord> => {
    const record = await registry.get(id);
    if (record.status === 'revoked' || isCustomerClosed) return record;
    throw new KeyRefused('conflict', [
      `the key is ${record.status}, and only a revoked one can be erased: first petgate keys revoke ${id}, ` +
        'which is final',
    ]);
  };
  await erase(engine.keys, ended, await registry.nowMs(), actor);
}

/** Deletes undelivered events that contain an operator's reason for banning one of these keys. */
async function forgetReasons(outbox: Outbox, isErased: (keyId: string) => boolean): Promise<void> {
  for await (const entries of allEntries(outbox))
    for (const { event } of entries)
      if (isOperatorsReason(event.data.reason) && isErased(event.data.key)) await outbox.delivered(event.id);
}

/** @param read returns the record, or throws if it must not be erased */
async function erase<R extends KeyRecord | CustomerRecord>(
  store: ErasableStore<R>,
  read: () => Promise<R>,
  atMs: number,
  actor: string,
): Promise<void> {
  await untilWritten(async () => {
    const record = await read();
    // A change between the two reads makes the write fail, because the version differs.
    const history = await store.history(record.id);
    const done: AuditEntry = { atMs, actor, action: 'erased', changed: {} };
    await store.rewrite({ ...impersonal(record), version: record.version + 1 }, [...history.map(bare), done]);
  }, 'it is being changed by somebody else; try again');
}

function impersonal<R extends KeyRecord | CustomerRecord>(record: R): R {
  const { grants } = record;
  return {
    ...record,
    name: '',
    note: '',
    ...('reference' in record ? { reference: '' } : {}),
    ...(grants === undefined ? {} : { grants: grants.map((grant) => ({ ...grant, note: '' })) }),
  };
}

function bare(entry: AuditEntry): AuditEntry {
  const fields = Object.entries(entry.changed);
  const changed = Object.fromEntries(
    fields.map(([field, value]) => [field, IMPERSONAL.has(field) || value === AFTER_REFUSALS ? value : null]),
  );
  return { ...entry, changed };
}
