import { ChangeUncertain, StoreUnavailable, VersionConflict } from '../../port.js';
import type { KeyStore } from '../../port.js';
import type { AuditEntry, KeyRecord } from '../../key-record.js';
import type { GatewayEvent } from '../../events/outbox.js';
import { announceChange } from './changes.js';
import { announceEvent, newEntry, ready, withdraw } from './events/outbox.js';
import { idsIn } from './link/ids.js';
import { arrive, importStore } from './imports.js';
import type { Link } from './link/link.js';
import { EVENTS_DUE, eventsName, historyName, KEY_INDEX, keyName } from './names.js';
import type { Replicas } from './link/replicas.js';
import { fieldsOf, isPlaced, recordOf } from './record.js';
import { rewrite } from './rewrite.js';
import { scriptOf } from './link/script.js';

/**
 * KEYS: the key, its history, and where there is an event, the key's events. ARGV: version to be replaced
 * (0: absent), audit entry, id and entry of the event (empty without), then fields and values of the record.
 * Answers `1`, or `0` when the stored version is another.
 */
const WRITE = scriptOf(`
local there = call('HMGET', KEYS[1], 'version', 'import')
if there[2] or (there[1] or '0') ~= ARGV[2] then return pack('<d', clock) .. '0' end
call('HSET', KEYS[1], spread(ARGV, 6))
call('RPUSH', KEYS[2], ARGV[3])
if KEYS[3] then call('HSET', KEYS[3], ARGV[4], ARGV[5]) end
return pack('<d', clock) .. '1'
`);

/** By then a step announced has been made, or never will be: a write is a few calls, each with its deadline. */
const GRACE_DEADLINES = 8;
const GRACE_MS = 5_000;

export function keyStore(link: Link, replicas: Replicas, deadlineMs: number, importLeaseMs?: number): KeyStore {
  const graceMs = Math.max(GRACE_MS, GRACE_DEADLINES * deadlineMs);
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
    async write(record, entry, event) {
      // First the index: a name without a record is skipped, a record without a name would be lost from the list.
      if (record.version === 1) await link.command('zadd', KEY_INDEX, '0', record.id);
      else await announceChange(link, record.id);
      if (event !== undefined) await announce(event);
      const names = [
        keyName(record.id),
        historyName(record.id),
        ...(event === undefined ? [] : [eventsName(record.id)]),
      ];
      const told = event === undefined ? ['', ''] : [event.id, JSON.stringify(newEntry(event))];
      const args = [(record.version - 1).toString(), JSON.stringify(entry), ...told, ...fieldsOf(record)];
      const isWritten = async (): Promise<boolean> => (await link.run(WRITE, names, args)).toString() === '1';
      const written = await replicas.confirmed(
        keyName(record.id),
        async () => (await isWritten()) || ((await fetch(record.id)) && isWritten()),
      );
      // Whether this goes well or not: what is announced is looked for after the grace.
      if (event !== undefined) await (written ? ready : withdraw)(link, event.id).catch(() => undefined);
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
    shred: () => Promise.resolve(),
    confirm: (id) => replicas.confirmed(keyName(id), () => Promise.resolve()),
    async page(afterId, count) {
      const records: KeyRecord[] = [];
      for await (const ids of idsIn(link, KEY_INDEX, afterId)) {
        const found = await Promise.all(ids.map(readPlaced));
        records.push(...found.filter((record) => record !== undefined));
        if (records.length >= count) break;
      }
      return records.slice(0, count);
    },
    async history(id) {
      const entries = (await link.command('lrange', historyName(id), '0', '-1')) as Buffer[];
      return entries.map((entry) => JSON.parse(entry.toString()) as AuditEntry);
    },
    imports: importStore(link, replicas, importLeaseMs),
  };
}

/** In a Cluster the index lies on another node than the key, whose replicas the write itself does not wait for. */
async function announceSafely(link: Link, replicas: Replicas, event: GatewayEvent, graceMs: number): Promise<void> {
  const announced = (): Promise<void> => announceEvent(link, event, graceMs);
  if (!link.cluster) return announced();
  return replicas.confirmed(EVENTS_DUE, announced).catch((error: unknown) => {
    throw error instanceof ChangeUncertain
      ? new StoreUnavailable('no replica confirmed the event in time, so the key was not changed', { cause: error })
      : error;
  });
}
