import type { Limit, Limits } from '../../bucket.js';
import { VersionConflict } from '../../port.js';
import type { KeyStore } from '../../port.js';
import type { AuditEntry, KeyRecord, KeyStatus, SecretHash } from '../../../keys/record.js';
import type { Link } from './link.js';
import { KEY_INDEX, keyPrefix } from './names.js';
import { scriptOf } from './script.js';

/** Records read at once while paging. */
const READ_AT_ONCE = 64;

/**
 * KEYS[1]: the key's prefix. ARGV: version to be replaced (0: absent), audit entry, then fields and
 * values of the record. Answers `1`, or `0` when the stored version is another.
 */
const WRITE = scriptOf(`
local name = KEYS[1] .. 'key'
if (call('HGET', name, 'version') or '0') ~= ARGV[2] then return pack('<d', clock) .. '0' end
call('HSET', name, spread(ARGV, 4))
call('RPUSH', KEYS[1] .. 'history', ARGV[3])
return pack('<d', clock) .. '1'
`);

export function keyStore(link: Link): KeyStore {
  const read = async (id: string): Promise<KeyRecord | undefined> => {
    const fields = await link.hash(`${keyPrefix(id)}key`);
    return fields.size === 0 ? undefined : recordOf(id, fields);
  };
  return {
    read,
    async write(record, entry) {
      // First the index: a name without a record is skipped, a record without a name would be lost from the list.
      if (record.version === 1) await link.command('zadd', KEY_INDEX, '0', record.id);
      const args = [(record.version - 1).toString(), JSON.stringify(entry), ...fieldsOf(record)];
      const answer = await link.run(WRITE, [keyPrefix(record.id)], args);
      if (answer.toString() !== '1') throw new VersionConflict(`key ${record.id} was changed by somebody else, or exists already`);
    },
    async page(afterId, count) {
      const records: KeyRecord[] = [];
      for await (const ids of idsAfter(link, afterId)) {
        const found = await Promise.all(ids.map(read));
        records.push(...found.filter((record) => record !== undefined));
        if (records.length >= count) break;
      }
      return records.slice(0, count);
    },
    async history(id) {
      const entries = (await link.command('lrange', `${keyPrefix(id)}history`, '0', '-1')) as Buffer[];
      return entries.map((entry) => JSON.parse(entry.toString()) as AuditEntry);
    },
  };
}

/** Ids in the index after `afterId`, in order, some at a time. Some may have no record. */
export async function* idsAfter(link: Link, afterId: string | null): AsyncGenerator<readonly string[]> {
  let after = afterId;
  for (;;) {
    const from = after === null ? '-' : `(${after}`;
    const found = (await link.command('zrangebylex', KEY_INDEX, from, '+', 'LIMIT', '0', READ_AT_ONCE.toString())) as Buffer[];
    if (found.length === 0) return;
    const ids = found.map((id) => id.toString());
    yield ids;
    after = ids.at(-1) ?? null;
  }
}

/** Fields and values of the hash. Those that the admission script reads are in the form it reads. */
function fieldsOf(record: KeyRecord): readonly string[] {
  const { plan, name, note, status, createdAtMs, expiresAtMs, scopes, limits, secrets, version } = record;
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
    secrets: secrets.map(({ hash, endsAtMs }) => ` ${hash}:${endsAtMs ?? ''}`).join(''),
    version: version.toString(),
  };
  return Object.entries(fields).flat();
}

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
    limits: limitsOf(field('minute'), field('day')),
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

function limitsOf(minute: string, day: string): Limits | null {
  return minute === '' || day === '' ? null : { minute: limitOf(minute), day: limitOf(day) };
}

function limitOf(text: string): Limit {
  return text === 'unlimited' ? 'unlimited' : Number(text);
}
