import { VersionConflict } from '../../port.js';
import type { KeyStore } from '../../port.js';
import type { KeyRecord } from '../../records/key.js';
import type { GatewayEvent, OutboxChange } from '../../outbox/event.js';
import { announceChange } from './changes.js';
import { announceSafely, graceMsOf, newEntry, ready, withdraw } from '../outbox/enter.js';
import { pageOf } from '../link/ids.js';
import { arrive, importStore } from './imports.js';
import type { Link } from '../link/link.js';
import { eventsName, historyName, KEY_INDEX, keyName } from '../names.js';
import type { Replicas } from '../link/replicas.js';
import { fieldsOf, isPlaced, recordOf } from './key-fields.js';
import { readHistory, rewrite } from './history.js';
import { scriptOf } from '../link/script.js';

/**
 * KEYS: the key, its history, and where there are events, the key's events. ARGV: version to be replaced
 * (0: absent), audit entry, how many events are entered and how many withdrawn, ids and entries of those, ids of these,
 * then fields and values of the record.
 * Answers `1`, or `0` when the stored version is another.
 */
const WRITE = scriptOf(`
local there = call('HMGET', KEYS[1], 'version', 'import')
if there[2] or (there[1] or '0') ~= ARGV[2] then return pack('<d', clock) .. '0' end
local at = 6 + 2 * ARGV[4]
for n = 6, at - 1, 2 do call('HSET', KEYS[3], ARGV[n], ARGV[n + 1]) end
for n = at, at + ARGV[5] - 1 do call('HDEL', KEYS[3], ARGV[n]) end
call('HSET', KEYS[1], spread(ARGV, at + ARGV[5]))
call('RPUSH', KEYS[2], ARGV[3])
return pack('<d', clock) .. '1'
`);

const NOTHING_TOLD: OutboxChange = { enter: [], withdraw: [] };

export function keyStore(link: Link, replicas: Replicas, deadlineMs: number, importLeaseMs?: number): KeyStore {
  const graceMs = graceMsOf(deadlineMs);
  const announce = (event: GatewayEvent): Promise<void> => announceSafely(link, replicas, event, graceMs);
  const readPlaced = async (id: string): Promise<KeyRecord | undefined> => {
    const fields = await link.hash(keyName(id));
    return isPlaced(fields) ? recordOf(id, fields) : undefined;
  };
  /** Puts the key in its place when a committed import holds it; true when it did. */
  const fetch = async (id: string): Promise<boolean> =>
    (await link.command('hget', keyName(id), 'import')) !== null && arrive(link, [id]);
  return {
    read: async (id) => (await readPlaced(id)) ?? ((await fetch(id)) ? readPlaced(id) : undefined),
    async write(record, entry, told = NOTHING_TOLD) {
      // First the index: a name without a record is skipped, a record without a name would be lost from the list.
      if (record.version === 1) await link.command('zadd', KEY_INDEX, '0', record.id);
      else await announceChange(link, record.id);
      for (const event of told.enter) await announce(event);
      const names = [
        keyName(record.id),
        historyName(record.id),
        ...(told.enter.length + told.withdraw.length === 0 ? [] : [eventsName(record.id)]),
      ];
      const args = [
        (record.version - 1).toString(),
        JSON.stringify(entry),
        told.enter.length.toString(),
        told.withdraw.length.toString(),
        ...told.enter.flatMap((event) => [event.id, JSON.stringify(newEntry(event))]),
        ...told.withdraw,
        ...fieldsOf(record),
      ];
      const isWritten = async (): Promise<boolean> => (await link.run(WRITE, names, args)).toString() === '1';
      const written = await replicas.confirmed(
        keyName(record.id),
        async () => (await isWritten()) || ((await fetch(record.id)) && isWritten()),
      );
      // Whether this goes well or not: what is announced is looked for after the grace, and is no more than a name in the
      // index where it isn't there. Of a key's end whoever won may have announced the same one, which has to stay.
      const announced = written ? told.enter : told.enter.filter(({ type }) => type !== 'petgate.key.expiring');
      await Promise.all(announced.map((event) => (written ? ready(link, event) : withdraw(link, event.id)))).catch(
        () => undefined,
      );
      if (!written) throw new VersionConflict(`key ${record.id} was changed by somebody else, or exists already`);
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
