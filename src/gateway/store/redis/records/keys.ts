import type { Limit, Limits } from '../../../admission/bucket.js';
import type { KeyStore, KeyRecord, KeyStatus, SecretHash } from '../../records/key.js';
import type { Grant } from '../../records/grant.js';
import type { Raise } from '../ledger/transfer.js';
import type { Link } from '../link/link.js';
import type { Replicas } from '../link/replicas.js';
import { CORRECTED_KEYS, KEY_INDEX, keyName } from '../keyspace/names.js';
import type { PendingEvents } from '../outbox/pending.js';
import { grantsText } from '../admit/grants.js';
import { recordStoreOn, type Overtaking } from '../../records/record-store.js';
import { noteBan } from './bans.js';
import type { RecordType } from './current.js';
import { RedisRows } from './record-rows.js';

const KEYS: RecordType<KeyRecord> = {
  index: KEY_INDEX,
  correctedIndex: CORRECTED_KEYS,
  nameOf: keyName,
  recordIn: (id, fields) => (fields.has('version') ? recordOf(id, fields) : undefined),
  fieldsOf,
  noteField: 'ban',
};

export function keyStore(
  link: Link,
  replicas: Replicas,
  pending: PendingEvents,
  raise: Raise,
): KeyStore & Overtaking<KeyRecord> {
  const type = { ...KEYS, flush: (id: string) => pending.flush(id) };
  const records = recordStoreOn(new RedisRows(link, replicas, type, raise));
  return {
    ...records,
    write: async (record, entry, change) => {
      await records.write(record, entry, change).finally(() => {
        if (change !== undefined && change.emit.length > 0) pending.add([record.id]);
      });
      if (change?.ban !== undefined) await noteBan(link, 'key', record.id, change.ban?.untilMs ?? 0);
    },
  };
}

/** Returns fields and values of the hash. Those that the admission script reads are in the form it reads. */
function fieldsOf(record: KeyRecord): readonly string[] {
  const { plan, name, note, status, createdAtMs, expiresAtMs, scopes, limits, grants, secrets, version } = record;
  const { credited } = record;
  const fields = {
    plan,
    name,
    note,
    status,
    created: createdAtMs.toString(),
    expires: expiresAtMs?.toString() ?? '',
    scopes: scopes === null ? '*' : ` ${scopes.map((scope) => `${scope} `).join('')}`,
    minute: limits?.minute.toString() ?? '',
    day: limits?.day.toString() ?? '',
    // Ignored without limits of its own, which most keys lack.
    ...(limits === null
      ? {}
      : { month: limits.month?.toString() ?? '', flights: limits.concurrency?.toString() ?? '' }),
    // Few keys ever have grants. Once a key had some, the fields stay.
    ...(grants === undefined ? {} : { grants: JSON.stringify(grants), more: grantsText(grants) }),
    ...(credited === undefined ? {} : { credited: credited.toString() }),
    secrets: secrets.map(({ hash, endsAtMs }) => ` ${hash}:${endsAtMs ?? ''}`).join(''),
    version: version.toString(),
  };
  return Object.entries(fields).flat();
}

/** Returns the record of the fields that `fieldsOf` wrote. */
function recordOf(id: string, fields: ReadonlyMap<string, string>): KeyRecord {
  const field = (name: string): string => fields.get(name) ?? '';
  return {
    id,
    plan: field('plan'),
    name: field('name'),
    note: field('note'),
    status: field('status') as KeyStatus,
    createdAtMs: Number(field('created')),
    expiresAtMs: field('expires') === '' ? null : Number(field('expires')),
    scopes: field('scopes') === '*' ? null : words(field('scopes')),
    limits: limitsOf(field('minute'), field('day'), field('month'), field('flights')),
    ...(fields.has('grants') ? { grants: JSON.parse(field('grants')) as readonly Grant[] } : {}),
    ...(fields.has('credited') ? { credited: Number(field('credited')) } : {}),
    secrets: words(field('secrets')).map(secretOf),
    version: Number(field('version')),
  };
}

function words(text: string): readonly string[] {
  return text.split(' ').filter((word) => word !== '');
}

function secretOf(text: string): SecretHash {
  const colon = text.lastIndexOf(':');
  const ends = text.slice(colon + 1);
  return { hash: text.slice(0, colon), endsAtMs: ends === '' ? null : Number(ends) };
}

function limitsOf(minute: string, day: string, month: string, flights: string): Limits | null {
  if (minute === '' || day === '') return null;
  return {
    ...{ minute: limitOf(minute), day: limitOf(day) },
    ...(month !== '' && { month: limitOf(month) }),
    ...(flights !== '' && { concurrency: Number(flights) }),
  };
}

function limitOf(text: string): Limit {
  return text === 'unlimited' ? 'unlimited' : Number(text);
}
