import { isDeepStrictEqual } from 'node:util';
import { DAY_MS, MAX_LIMIT, type BucketState } from '../../admission/bucket.js';
import { dayNumber } from '../../../shared/utc-day.js';
import { freshState, type SubjectState } from '../../admission/decide.js';
import { isAutomaticBan, type AuditEntry, type Restored, type Snapshot, type StoredRecord } from './record.js';

/** The snapshot of a new record. */
export function firstSnapshot<R extends StoredRecord>(record: R, entry: AuditEntry): Snapshot<R> {
  return { record, history: [entry], state: freshState(), banNote: null, usage: [] };
}

/** Compares the record of a snapshot with the one here. The histories show which is newer. */
export function comparison<R extends StoredRecord>(
  here: Pick<Snapshot<R>, 'record' | 'history'> | undefined,
  given: Pick<Snapshot<R>, 'record' | 'history'>,
): Restored {
  if (here === undefined) return 'added';
  const [ours, theirs] = [here, given].map(({ history }) => history.filter((one) => !isAutomaticBan(one)).map(stepOf));
  const common = Math.min(ours!.length, theirs!.length);
  if (!isDeepStrictEqual(ours!.slice(0, common), theirs!.slice(0, common))) return 'different';
  if (here.record.version === given.record.version)
    return isDeepStrictEqual(here.record, given.record) ? 'unchanged' : 'different';
  return here.record.version < given.record.version ? 'changed' : 'newer';
}

/** Erasing clears what an entry changed, but keeps the entry. */
function stepOf({ atMs, actor, action }: AuditEntry): readonly unknown[] {
  return [atMs, actor, action];
}

/** The history of the newer of two records, with the automatic bans of both. */
export function mergedHistory(
  here: readonly AuditEntry[],
  given: readonly AuditEntry[],
  compared: Restored,
): readonly AuditEntry[] {
  const [base, other] = compared === 'added' || compared === 'changed' ? [given, here] : [here, given];
  const known = new Set(base.filter(isAutomaticBan).map(({ changed }) => changed['until']));
  const missing = other.filter((entry) => isAutomaticBan(entry) && !known.has(entry.changed['until']));
  return missing.reduce((all, ban) => {
    const at = all.findIndex(({ atMs }, n) => n > 0 && atMs > ban.atMs);
    return all.toSpliced(at === -1 ? all.length : at, 0, ban);
  }, base);
}

/**
 * Merges the state here with a snapshot's: day and month are the later window each, or the larger figure if both began
 * on the same day; the minute stays. The ban is the newer record's; for equal versions, the one that ends last.
 */
export function mergedState(here: SubjectState, given: SubjectState, compared: Restored): SubjectState {
  const isGivens =
    compared === 'added' || compared === 'changed' || (compared === 'unchanged' && endsLater(given, here));
  const { strikes, strikesSinceMs, bannedUntilMs, banLevel } = isGivens ? given : here;
  const operationWindows = mergedWindows(here.operationWindows, given.operationWindows);
  const [day, month] = [later(here.day, given.day), later(here.month, given.month)];
  return { minute: { ...here.minute }, day, month, strikes, strikesSinceMs, bannedUntilMs, banLevel, operationWindows };
}

/** Adds up two states with independent spending. Strikes and ban are the first one's. */
export function spentTogether(one: SubjectState, other: SubjectState): SubjectState {
  const windows = new Map(one.operationWindows);
  for (const [name, bucket] of other.operationWindows ?? []) {
    const known = windows.get(name);
    windows.set(name, known === undefined ? { ...bucket } : sum(known, bucket));
  }
  return {
    ...one,
    day: sum(one.day, other.day),
    month: sum(one.month, other.month),
    operationWindows: windows.size === 0 ? null : windows,
  };
}

/** The sum of two windows that began on the same day; otherwise the later one. */
function sum(one: BucketState, other: BucketState): BucketState {
  const is = later(one, other);
  const [first, second] = [one, other].map(({ atMs }) => dayNumber(atMs));
  return first === second ? { level: Math.min(one.level + other.level, MAX_LIMIT * DAY_MS), atMs: is.atMs } : is;
}

function endsLater(one: SubjectState, other: SubjectState): boolean {
  const [first, second] = [one, other].map((each) => [each.bannedUntilMs, each.strikesSinceMs, each.strikes]);
  const at = first!.findIndex((figure, n) => figure !== second![n]);
  return at !== -1 && first![at]! > second![at]!;
}

/**
 * Returns the later window, or the larger figures if both are of the same day. Compares days, because greedy refill
 * moves the time with every request.
 */
function later(here: BucketState, given: BucketState): BucketState {
  const [ours, theirs] = [here, given].map(({ atMs }) => dayNumber(atMs));
  if (ours !== theirs) return { ...(ours! > theirs! ? here : given) };
  return { level: Math.max(here.level, given.level), atMs: Math.max(here.atMs, given.atMs) };
}

function mergedWindows(
  here: SubjectState['operationWindows'],
  given: SubjectState['operationWindows'],
): SubjectState['operationWindows'] {
  const merged = new Map(here);
  for (const [name, bucket] of given ?? []) {
    if (name.endsWith('-minute')) continue;
    const known = merged.get(name);
    merged.set(name, known === undefined ? { ...bucket } : later(known, bucket));
  }
  return merged.size === 0 ? null : merged;
}
