import { VersionConflict } from '../../port.js';
import type { KeyStore } from '../../port.js';
import type { AuditEntry, KeyRecord } from '../../../keys/record.js';
import { announceChange } from './changes.js';
import { arrive, importStore } from './imports.js';
import type { Link } from './link.js';
import { KEY_INDEX, keyPrefix } from './names.js';
import { fieldsOf, recordOf } from './record.js';
import { scriptOf } from './script.js';

/**
 * KEYS[1]: the key's prefix. ARGV: version to be replaced (0: absent), audit entry, then fields and
 * values of the record. Answers `1`, or `0` when the stored version is another.
 */
const WRITE = scriptOf(`
local name = KEYS[1] .. 'key'
if ARGV[2] == '0' and call('EXISTS', KEYS[1] .. 'staged') == 1 then return pack('<d', clock) .. '0' end
if (call('HGET', name, 'version') or '0') ~= ARGV[2] then return pack('<d', clock) .. '0' end
call('HSET', name, spread(ARGV, 4))
call('RPUSH', KEYS[1] .. 'history', ARGV[3])
return pack('<d', clock) .. '1'
`);

export function keyStore(link: Link, importLeaseMs?: number): KeyStore {
  const readPlaced = async (id: string): Promise<KeyRecord | undefined> => {
    const fields = await link.hash(`${keyPrefix(id)}key`);
    return fields.size === 0 ? undefined : recordOf(id, fields);
  };
  /** Puts the key in its place when a committed import holds it; true when it did. */
  const fetch = async (id: string): Promise<boolean> => (await link.command('exists', `${keyPrefix(id)}staged`)) === 1 && arrive(link, [id]);
  return {
    read: async (id) => (await readPlaced(id)) ?? ((await fetch(id)) ? readPlaced(id) : undefined),
    async write(record, entry) {
      // First the index: a name without a record is skipped, a record without a name would be lost from the list.
      if (record.version === 1) await link.command('zadd', KEY_INDEX, '0', record.id);
      else await announceChange(link, record.id);
      const args = [(record.version - 1).toString(), JSON.stringify(entry), ...fieldsOf(record)];
      const isWritten = async (): Promise<boolean> => (await link.run(WRITE, [keyPrefix(record.id)], args)).toString() === '1';
      if (await isWritten()) return;
      if (!(await fetch(record.id)) || !(await isWritten())) throw new VersionConflict(`key ${record.id} was changed by somebody else, or exists already`);
    },
    async page(afterId, count) {
      const records: KeyRecord[] = [];
      for await (const ids of link.idsIn(KEY_INDEX, afterId)) {
        const found = await Promise.all(ids.map(readPlaced));
        records.push(...found.filter((record) => record !== undefined));
        if (records.length >= count) break;
      }
      return records.slice(0, count);
    },
    async history(id) {
      const entries = (await link.command('lrange', `${keyPrefix(id)}history`, '0', '-1')) as Buffer[];
      return entries.map((entry) => JSON.parse(entry.toString()) as AuditEntry);
    },
    imports: importStore(link, importLeaseMs),
  };
}
