import { DAY_MS } from '../../../admission/bucket.js';
import type { Link } from '../link/link.js';
import { CHANGES } from '../names.js';
import { scriptOf } from '../link/script.js';

/** Longer than any cached record is used (`failover/key-cache.ts`). */
const KEPT_MS = DAY_MS + 3_600_000;
const READ_AT_ONCE = 500;

/** KEYS[1]: the log. ARGV: a key id, and how long an entry stays. */
const ADD = scriptOf(`
call('ZREMRANGEBYSCORE', KEYS[1], '-inf', clock - ARGV[3])
call('ZADD', KEYS[1], clock, ARGV[2])
call('PEXPIRE', KEYS[1], ARGV[3])
return pack('<d', clock) .. '1'
`);

/**
 * KEYS[1]: the log. ARGV: since when, store ms; about how many. Answers \`1\` or \`0\` (there may be more, or not),
 * the time up to which it was read, and ids. A page never ends within a moment, because the next begins after it:
 * it takes all entries of its last one, of which there are no more than Redis can make in a millisecond.
 */
const READ = scriptOf(`
local found = call('ZRANGEBYSCORE', KEYS[1], '(' .. ARGV[2], '+inf', 'WITHSCORES', 'LIMIT', 0, ARGV[3])
local ids, more, untilMs = {}, #found == 2 * ARGV[3], string.format('%.0f', clock)
if more then untilMs = found[#found] end
for n = 1, #found, 2 do
  if not more or found[n + 1] ~= untilMs then ids[#ids + 1] = found[n] end
end
if more then
  for _, id in ipairs(call('ZRANGEBYSCORE', KEYS[1], untilMs, untilMs)) do ids[#ids + 1] = id end
end
return pack('<d', clock) .. (more and '1 ' or '0 ') .. untilMs .. ' ' .. table.concat(ids, ' ')
`);

/** Ids of keys, and of customers, whose record is about to change, or was just changed. */
export interface ChangedKeys {
  readonly ids: readonly string[];
  /** The store's time up to which the log was read; there is more when `isMore`. */
  readonly untilMs: number;
  readonly isMore: boolean;
}

/**
 * The log of changed keys. In a Cluster it lies on another node than most keys, so that no step writes
 * both: the entry comes first, and the change follows within the deadlines of its call or not at all.
 * Who reads the log looks at a key again until its entry is older than that.
 */
export async function announceChange(link: Link, keyId: string): Promise<void> {
  await link.run(ADD, [CHANGES], [keyId, KEPT_MS.toString()]);
}

/** The keys with an entry after `sinceMs`, store time, oldest first, some at a time. */
export async function changedSince(link: Link, sinceMs: number): Promise<ChangedKeys> {
  const answer = (await link.run(READ, [CHANGES], [sinceMs.toString(), READ_AT_ONCE.toString()])).toString();
  const [isMore, untilMs, ...ids] = answer.trimEnd().split(' ');
  return { ids, untilMs: Number(untilMs), isMore: isMore === '1' };
}
