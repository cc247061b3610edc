import { VersionConflict } from '../../port.js';
import type { KeyStore } from '../../port.js';
import type { KeyRecord } from '../../records/key.js';
import type { OutboxChange } from '../../outbox/event.js';
import { announceChange } from './changes.js';
import { pendingArgs, pendingField, WRITE_PENDING } from '../outbox/fields.js';
import type { PendingEvents } from '../outbox/pending.js';
import { pageOf } from '../link/ids.js';
import { arrive, importStore } from './imports.js';
import type { Link } from '../link/link.js';
import { eventsName, historyName, KEY_INDEX, keyName } from '../names.js';
import type { Replicas } from '../link/replicas.js';
import { fieldsOf, isPlaced, recordOf } from './key-fields.js';
import { readHistory, rewrite } from './history.js';
import { scriptOf } from '../link/script.js';

/**
 * KEYS: the key, its history, and where there are events, the key's events. ARGV: version to be replaced (0: absent),
 * audit entry, how many events are withdrawn and how many written, of each its field, id, and entry (outbox/fields.ts),
 * then fields and values of the record.
 * Answers `1`, or `0` when the stored version is another.
 */
const WRITE = scriptOf(`
local name, events, at = KEYS[1], KEYS[3], 6
local there = call('HMGET', name, 'version', 'import')
if there[2] or (there[1] or '0') ~= ARGV[2] then return pack('<d', clock) .. '0' end
for _ = 1, ARGV[4] do
  call('HDEL', name, ARGV[at])
  call('HDEL', events, ARGV[at + 1])
  at = at + 2
end
for _ = 1, ARGV[5] do
  ${WRITE_PENDING}
  at = at + 3
end
call('HSET', name, spread(ARGV, at))
call('RPUSH', KEYS[2], ARGV[3])
return pack('<d', clock) .. '1'
`);

const NO_EVENTS: OutboxChange = { emit: [], withdraw: [] };

export function keyStore(link: Link, replicas: Replicas, pending: PendingEvents, importLeaseMs?: number): KeyStore {
  const readPlaced = async (id: string): Promise<KeyRecord | undefined> => {
    const fields = await link.hash(keyName(id));
    return isPlaced(fields) ? recordOf(id, fields) : undefined;
  };
  /** Puts the key in its place when a committed import holds it; true when it did. */
  const fetch = async (id: string): Promise<boolean> =>
    (await link.command('hget', keyName(id), 'import')) !== null && arrive(link, [id]);
  return {
    read: async (id) => (await readPlaced(id)) ?? ((await fetch(id)) ? readPlaced(id) : undefined),
    async write(record, entry, { emit, withdraw } = NO_EVENTS) {
      const { id, version } = record;
      // First the index: a name without a record is skipped, a record without a name would be lost from the list.
      if (version === 1) await link.command('zadd', KEY_INDEX, '0', id);
      else await announceChange(link, id);
      const names = [keyName(id), historyName(id), ...(emit.length + withdraw.length === 0 ? [] : [eventsName(id)])];
      const args = [
        (version - 1).toString(),
        JSON.stringify(entry),
        withdraw.length.toString(),
        emit.length.toString(),
        ...withdraw.flatMap((event) => [pendingField(event), event]),
        ...emit.flatMap(pendingArgs),
        ...fieldsOf(record),
      ];
      const isWritten = async (): Promise<boolean> => (await link.run(WRITE, names, args)).toString() === '1';
      const change = async (): Promise<boolean> => (await isWritten()) || ((await fetch(id)) && isWritten());
      const written = await replicas.confirmed(keyName(id), change).finally(() => {
        if (emit.length > 0) pending.add([id]);
      });
      if (!written) throw new VersionConflict(`key ${id} was changed by somebody else, or exists already`);
    },
    async rewrite(record, history) {
      const { id, version } = record;
      await announceChange(link, id);
      const written = await replicas.confirmed(keyName(id), () =>
        rewrite(link, [keyName(id), historyName(id)], version, fieldsOf(record), history),
      );
      if (!written) throw new VersionConflict(`key ${id} was changed by somebody else`);
    },
    // Redis alone says what its files still hold.
    confirm: (id) => replicas.confirmed(keyName(id), () => Promise.resolve()),
    page: (afterId, count) => pageOf(link, KEY_INDEX, afterId, count, readPlaced),
    history: (id) => readHistory(link, id),
    imports: importStore(link, replicas, importLeaseMs),
  };
}
