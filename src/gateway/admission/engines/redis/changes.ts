import { DAY_MS } from '../../bucket.js';
import type { Link } from './link.js';
import { CHANGES } from './names.js';
import { scriptOf } from './script.js';

/** Longer than any copy of a record is used (`failover/copies.ts`). */
const KEPT_MS = DAY_MS + 3_600_000;
const READ_AT_ONCE = 500;

/** KEYS[1]: the log. ARGV: a key id, and how long an entry stays. */
const ADD = scriptOf(`
call('ZREMRANGEBYSCORE', KEYS[1], '-inf', clock - ARGV[3])
call('ZADD', KEYS[1], clock, ARGV[2])
call('PEXPIRE', KEYS[1], ARGV[3])
return pack('<d', clock) .. '1'
`);

/** KEYS[1]: the log. ARGV: since when, store ms; how many at most. Answers the clock, then ids and times. */
const READ = scriptOf(`
local found = call('ZRANGEBYSCORE', KEYS[1], '(' .. ARGV[2], '+inf', 'WITHSCORES', 'LIMIT', 0, ARGV[3])
return pack('<d', clock) .. string.format('%.0f', clock) .. ' ' .. table.concat(found, ' ')
`);

/** Ids of keys whose record is about to change, or was just changed. */
export interface ChangedKeys {
  readonly ids: readonly string[];
  /** The store's time until which the log is told; there is more when `isMore`. */
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

/** The keys with an entry after `sinceMs`, store time, oldest first. */
export async function changedSince(link: Link, sinceMs: number): Promise<ChangedKeys> {
  const answer = (await link.run(READ, [CHANGES], [sinceMs.toString(), READ_AT_ONCE.toString()])).toString();
  const [clock = '', ...found] = answer.trimEnd().split(' ');
  const ids = found.filter((_, place) => place % 2 === 0);
  const isMore = ids.length === READ_AT_ONCE;
  return { ids, untilMs: isMore ? Number(found.at(-1)) : Number(clock), isMore };
}
