import { DAY_MS } from '../../../admission/bucket.js';
import type { AuditEntry } from '../../records/record.js';
import type { Link } from '../link/link.js';
import { CHANGES } from '../keyspace/names.js';
import { loadScript } from '../link/script.js';
import type { RecordType } from './current.js';

/** Longer than any cached record is used (`outage/key-cache.ts`). */
const KEPT_MS = DAY_MS + 3_600_000;
const READ_AT_ONCE = 500;

const ADD = loadScript('records/add-change');
const READ = loadScript('records/read-changes');

/** IDs of keys and customers whose record is about to change, or has just changed. */
export interface ChangedKeys {
  readonly ids: readonly string[];
  /** Store time up to which the log was read; if `isMore`, there are later entries. */
  readonly untilMs: number;
  readonly isMore: boolean;
}

/**
 * Enters a key or customer in the log of changes. In a Cluster the log is on another node than most keys, so no step
 * can write both: the entry comes first, and the change follows within the deadlines of its call or not at all. Readers
 * of the log therefore look at a key again until its entry is older than that.
 */
export async function announceChange(
  link: Link,
  { nameOf }: Pick<RecordType<never>, 'nameOf'>,
  id: string,
  isRestricting: boolean,
): Promise<void> {
  await Promise.all([link.run(ADD, [CHANGES], [id, KEPT_MS.toString()]), link.countChange(nameOf(id), isRestricting)]);
}

/** Whether a change may remove rights: a store that lost the change would grant them again. */
export function isRestricting({ action, changed }: AuditEntry): boolean {
  return RESTRICTING.has(action) || RESTRICTED.some((field) => field in changed);
}

const RESTRICTING: ReadonlySet<AuditEntry['action']> = new Set(['revoked', 'rotated', 'banned', 'closed', 'erased']);
const RESTRICTED = ['status', 'secrets', 'scopes', 'expires'];

/** Reads keys and customers with an entry after `sinceMs`, store time, oldest first, a page at a time. */
export async function changedSince(link: Link, sinceMs: number): Promise<ChangedKeys> {
  const answer = (await link.run(READ, [CHANGES], [sinceMs.toString(), READ_AT_ONCE.toString()])).toString();
  const [isMore, untilMs, ...ids] = answer.trimEnd().split(' ');
  return { ids, untilMs: Number(untilMs), isMore: isMore === '1' };
}
