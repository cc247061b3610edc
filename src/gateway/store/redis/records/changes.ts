import { DAY_MS } from '../../../admission/bucket.js';
import type { AuditEntry } from '../../records/record.js';
import type { Link } from '../link/link.js';
import { CHANGES } from '../names.js';
import { loadScript } from '../link/script.js';
import type { RecordType } from './current.js';

/** Longer than any cached record is used (`outage/key-cache.ts`). */
const KEPT_MS = DAY_MS + 3_600_000;
const READ_AT_ONCE = 500;

const ADD = loadScript('records/add-change');

const READ = loadScript('records/read-changes');

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
export async function announceChange(
  link: Link,
  { nameOf }: Pick<RecordType<never>, 'nameOf'>,
  id: string,
  isRestricting: boolean,
): Promise<void> {
  await Promise.all([link.run(ADD, [CHANGES], [id, KEPT_MS.toString()]), link.countChange(nameOf(id), isRestricting)]);
}

/** Whether it may take away what somebody was allowed: a store that lost it allows that again. */
export function isRestricting({ action, changed }: AuditEntry): boolean {
  return RESTRICTING.has(action) || RESTRICTED.some((field) => field in changed);
}

const RESTRICTING: ReadonlySet<AuditEntry['action']> = new Set(['revoked', 'rotated', 'banned', 'closed', 'erased']);
const RESTRICTED = ['status', 'secrets', 'scopes', 'expires'];

/** The keys with an entry after `sinceMs`, store time, oldest first, some at a time. */
export async function changedSince(link: Link, sinceMs: number): Promise<ChangedKeys> {
  const answer = (await link.run(READ, [CHANGES], [sinceMs.toString(), READ_AT_ONCE.toString()])).toString();
  const [isMore, untilMs, ...ids] = answer.trimEnd().split(' ');
  return { ids, untilMs: Number(untilMs), isMore: isMore === '1' };
}
