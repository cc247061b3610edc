import { randomBytes } from 'node:crypto';
import { patiently } from '../../retry.js';
import { ChangeUncertain, IMPORT_LEASE_MS, ImportLost } from '../../port.js';
import type { ImportStore, ImportUnderWay, IncomingKey, Staging } from '../../port.js';
import { idsIn } from '../link/ids.js';
import type { Link } from '../link/link.js';
import { historyName, IMPORT_MARK, importIds, KEY_INDEX, keyName } from '../names.js';
import { fieldsOf } from './key-fields.js';
import type { Replicas } from '../link/replicas.js';
import { scriptOf } from '../link/script.js';

/** Keys on their way to Redis at once: few enough that each call keeps its deadline. */
const SENT_AT_ONCE = 32;
/**
 * The mark of the one import. ARGV: what to do, import id, lease in ms. Clocks of a Cluster's nodes
 * differ a little: an import counts as abandoned only a fifth of the lease after its end.
 * Answers with what stands there afterwards: `<id> <phase> <until> <abandoned>`, or `-`.
 */
const MARK = scriptOf(`
local name, what, id = KEYS[1], ARGV[2], ARGV[3]
local there = call('HMGET', name, 'id', 'phase', 'until')
local leaseMs = tonumber(ARGV[4])
local untilMs = clock + leaseMs
local mine, phase = there[1] == id, there[2]
local abandoned = there[1] and phase ~= 'committed' and clock > tonumber(there[3]) + leaseMs / 5
local next
if what == 'open' and not there[1] then next = 'staging' end
if what == 'touch' and mine and phase == 'staging' then next = 'staging' end
if what == 'commit' and mine and phase == 'staging' then next = 'committed' end
if what == 'own' and mine and phase ~= 'committed' then next = 'dropping' end
if what == 'abandoned' and mine and abandoned then next = 'dropping' end
if what == 'end' and mine and phase ~= 'staging' then
  call('DEL', name)
  return pack('<d', clock) .. '-'
end
if next then
  call('HSET', name, 'id', id, 'phase', next, 'until', string.format('%.0f', untilMs))
  there, phase, abandoned = { id, next, untilMs }, next, false
end
if not there[1] then return pack('<d', clock) .. '-' end
return pack('<d', clock) .. there[1] .. ' ' .. phase .. ' ' .. string.format('%.0f', tonumber(there[3])) .. ' ' .. (abandoned and '1' or '0')
`);

/**
 * KEYS[1]: the key. ARGV: end of the lease, import id, a word for this very key of the import, so
 * that it may be sent again, audit entry, then fields and values of the record.
 */
const STAGE = scriptOf(`
if clock > tonumber(ARGV[2]) then return pack('<d', clock) .. 'late' end
local there = call('HMGET', KEYS[1], 'version', 'import', 'place')
if there[1] and not there[2] then return pack('<d', clock) .. 'present' end
if there[3] and there[3] ~= ARGV[4] then return pack('<d', clock) .. 'repeated' end
call('HSET', KEYS[1], 'import', ARGV[3], 'place', ARGV[4], 'entry', ARGV[5], spread(ARGV, 6))
return pack('<d', clock) .. 'staged'
`);

/** KEYS: the key and its history. ARGV: import id, and `1` to put the key in its place, `0` to forget it. */
const UNSTAGE = scriptOf(`
local staged = call('HMGET', KEYS[1], 'import', 'entry')
if staged[1] ~= ARGV[2] then return pack('<d', clock) .. '0' end
if ARGV[3] == '0' then
  call('DEL', KEYS[1])
else
  call('HDEL', KEYS[1], 'import', 'place', 'entry')
  call('RPUSH', KEYS[2], staged[2])
end
return pack('<d', clock) .. '1'
`);

type What = 'read' | 'open' | 'touch' | 'commit' | 'own' | 'abandoned' | 'end';
type Mark = ImportUnderWay & { readonly untilMs: number };

export function importStore(link: Link, replicas: Replicas, leaseMs = IMPORT_LEASE_MS): ImportStore {
  const mark = (what: What, id: string): Promise<Mark | undefined> => patiently(() => markOf(link, what, id, leaseMs));
  return {
    read: () => mark('read', ''),
    async open(id) {
      const there = await mark('open', id);
      return there?.id === id ? undefined : there;
    },
    async stage(id, keys) {
      const there = await mark('touch', id);
      if (there?.id !== id || there.phase !== 'staging') throw lost();
      const outcomes: Staging[] = [];
      for (let start = 0; start < keys.length; start += SENT_AT_ONCE) {
        outcomes.push(...(await stageSome(link, id, there.untilMs, keys.slice(start, start + SENT_AT_ONCE))));
      }
      return outcomes;
    },
    async commit(id) {
      // The mark makes all of it good, also what was staged on other nodes of a Cluster: that has to be safe before.
      if (link.cluster) await confirmStaged(link, replicas, id);
      const there = await replicas.confirmed(IMPORT_MARK, () => mark('commit', id));
      if (there?.id !== id || there.phase !== 'committed') throw lost();
    },
    async settle(id) {
      const there = await mark('read', id);
      if (there?.id !== id || there.phase !== 'committed') return;
      for await (const ids of idsIn(link, importIds(id), null)) await patiently(() => place(link, id, ids));
      await end(link, id, leaseMs);
    },
    async drop(id, whose) {
      const there = await mark(whose, id);
      if (there?.id !== id || there.phase !== 'dropping') return;
      for await (const ids of idsIn(link, importIds(id), null)) await patiently(() => unstage(link, id, ids, '0'));
      await end(link, id, leaseMs);
    },
  };
}

/** Waits for the replicas of each node that holds keys of the import. Rejects with ChangeUncertain when they don't have them. */
async function confirmStaged(link: Link, replicas: Replicas, importId: string): Promise<void> {
  const names = new Map<string, string>();
  for await (const ids of idsIn(link, importIds(importId), null)) {
    for (const keyId of ids) names.set(link.nodeOf(keyName(keyId)), keyName(keyId));
  }
  for (const name of names.values()) {
    await replicas
      .confirmed(name, () => Promise.resolve())
      .catch((error: unknown) => {
        throw error instanceof ChangeUncertain
          ? new ChangeUncertain(
              'No replica confirmed the keys in time, so none of them was made good. Look whether replication works (INFO replication), then run the import again.',
            )
          : error;
      });
  }
}

/** Puts these keys in their place if the import that staged them is committed. False when none is. */
export async function arrive(link: Link, keyIds: readonly string[]): Promise<boolean> {
  const there = await markOf(link, 'read', '', IMPORT_LEASE_MS);
  if (there?.phase !== 'committed') return false;
  await place(link, there.id, keyIds);
  return true;
}

async function stageSome(
  link: Link,
  importId: string,
  untilMs: number,
  keys: readonly IncomingKey[],
): Promise<readonly Staging[]> {
  // First the names: a staged key that no list names would stay for ever.
  await patiently(() => link.command('zadd', importIds(importId), ...keys.flatMap(({ record }) => ['0', record.id])));
  const turn = randomBytes(6).toString('base64url');
  const calls = keys.map(({ record, entry }, n) => {
    const args = [untilMs.toString(), importId, `${turn}${n}`, JSON.stringify(entry), ...fieldsOf(record)];
    return patiently(() => link.run(STAGE, [keyName(record.id)], args));
  });
  // All have to be over before a failure is reported: a drop must find nothing still on its way.
  await Promise.allSettled(calls);
  return (await Promise.all(calls)).map((answer) => {
    const outcome = answer.toString();
    if (outcome === 'late') throw lost();
    return outcome as Staging;
  });
}

async function place(link: Link, importId: string, keyIds: readonly string[]): Promise<void> {
  await link.command('zadd', KEY_INDEX, ...keyIds.flatMap((keyId) => ['0', keyId]));
  await unstage(link, importId, keyIds, '1');
}

async function unstage(link: Link, importId: string, keyIds: readonly string[], toPlace: '0' | '1'): Promise<void> {
  await Promise.all(
    keyIds.map((keyId) => link.run(UNSTAGE, [keyName(keyId), historyName(keyId)], [importId, toPlace])),
  );
}

async function end(link: Link, importId: string, leaseMs: number): Promise<void> {
  await patiently(() => link.command('unlink', importIds(importId)));
  await markOf(link, 'end', importId, leaseMs);
}

async function markOf(link: Link, what: What, importId: string, leaseMs: number): Promise<Mark | undefined> {
  const answer = (await link.run(MARK, [IMPORT_MARK], [what, importId, leaseMs.toString()])).toString();
  if (answer === '-') return undefined;
  const [id = '', phase = '', untilMs, abandoned] = answer.split(' ');
  return { id, phase: phase as Mark['phase'], untilMs: Number(untilMs), abandoned: abandoned === '1' };
}

function lost(): ImportLost {
  return new ImportLost(
    'The import was silent for too long and was dropped by another one. Nothing of it was kept: run it again.',
  );
}
