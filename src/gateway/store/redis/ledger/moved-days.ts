import { COUNTS, noCounts, type Counts, type UsageRow } from '../../records/counts.js';
import type { Accounts, ArchiveNote, LedgerStore } from '../../ledger.js';
import type { DayStore } from '../../port.js';
import { MAX_DAYS } from './active-days.js';
import type { Link } from '../link/link.js';
import { loadScript } from '../link/script.js';
import {
  ARCHIVE,
  dayNumberOf,
  EXCESS,
  GATEWAY_DAYS,
  keyName,
  ledgerName,
  MOVED_DAYS,
  NOTED_DAYS,
  RAISED,
  STORE,
  usageField,
} from '../keyspace/names.js';
import { dayRows, storedRows } from './usage.js';

/** Calls in flight together: few enough that each meets its deadline. */
const SENT_AT_ONCE = 32;

const REMOVE = loadScript('ledger/remove');
const SUBTRACT = loadScript('ledger/subtract');
const MARK = loadScript('ledger/mark');
const RESTORE = loadScript('ledger/restore', { MAX_DAYS });

/** Returns the clock of the node that has the gateways' reports. Rejects with StoreUnavailable. */
export async function nowMs(link: Link): Promise<number> {
  // A response includes the clock.
  await link.command('exists', GATEWAY_DAYS);
  return link.storeMs(GATEWAY_DAYS);
}

export function ledgerStore(
  link: Link,
  days: DayStore,
  usageDays: number,
  accounts: Accounts,
  close: () => Promise<void>,
): LedgerStore {
  const seconds = ((usageDays + 1) * 86_400).toString();
  /**
   * Passes the rows to `work` in batches of keys (of one key in a Cluster, or if `isSingle`), with the name of each
   * ledger followed by that of its key.
   */
  const each = async (
    day: string,
    rows: AsyncIterable<readonly UsageRow[]>,
    isSingle: boolean,
    work: (names: readonly string[], keys: readonly KeyRows[]) => Promise<unknown>,
  ): Promise<void> => {
    for await (const keys of inGroups(rows, SENT_AT_ONCE)) {
      const parts = link.cluster || isSingle ? keys.map((its) => [its]) : [keys];
      const namesOf = ([{ key }]: KeyRows): readonly string[] => [ledgerName(key, dayNumberOf(day)), keyName(key)];
      await Promise.all(parts.map((part) => work(part.flatMap(namesOf), part)));
    }
  };
  return {
    accounts,
    rows: (names, part) => storedRows(link, names.map(dayNumberOf), part),
    day: (day) => dayRows(link, dayNumberOf(day)),
    remove: (day, rows) =>
      each(day, rows, false, async (names, keys) => {
        const answer = await link.run(REMOVE, names, keys.map(sumOf));
        for (const index of answer.toString().split(' ').filter(Boolean).map(Number))
          await link.run(SUBTRACT, names.slice(2 * index, 2 * index + 2), fieldsOf(keys[index]!));
      }),
    mark: (day, rows, all) => each(day, rows, false, (names) => link.run(MARK, names, [all ? '1' : '0'])),
    restore: (day, rows) =>
      each(day, rows, true, (names, [its = []]) => link.run(RESTORE, names, [seconds, ...fieldsOf(its)])),
    async ids() {
      const [id, also] = (await link.command('hmget', STORE, 'id', 'also')) as readonly (Buffer | null)[];
      return `${String(id)} ${also?.toString() ?? ''}`.split(' ').filter(Boolean);
    },
    archive: () => archiveNote(link),
    async bind(archiveId, given) {
      await link.command('set', ARCHIVE, archiveId, 'NX');
      const bound = String(await link.command('get', ARCHIVE));
      if (bound === archiveId) await note(link, largest(await notedDays(link), given));
      return bound;
    },
    async accept(archiveId, days) {
      await link.command('set', ARCHIVE, archiveId);
      for (const [day, has] of days) if (has === null) await forget(link, day);
      await note(link, new Map([...days].filter(([, has]) => has !== null)));
      await link.command('hincrby', STORE, RAISED, '1');
    },
    async unbind(day) {
      await forget(link, day);
      const left = await Promise.all([MOVED_DAYS, NOTED_DAYS].map((name) => link.command('exists', name)));
      if (left.every((count) => count === 0)) await link.command('del', ARCHIVE);
    },
    nowMs: () => nowMs(link),
    finality: (nowMs) => days.finality(nowMs),
    close,
  };
}

/** Marks these days of a key as archived, except those whose whole counts are still in Redis. */
export async function markArchived(link: Link, keyId: string, days: readonly number[]): Promise<void> {
  for (let from = 0; from < days.length; from += SENT_AT_ONCE)
    await Promise.all(
      days
        .slice(from, from + SENT_AT_ONCE)
        .map((day) => link.run(MARK, [ledgerName(keyId, day), keyName(keyId)], ['0'])),
    );
}

export async function archiveNote(link: Link): Promise<ArchiveNote | null> {
  const id = (await link.command('get', ARCHIVE)) as Buffer | null;
  return id === null ? null : { id: id.toString(), days: await notedDays(link) };
}

async function notedDays(link: Link): Promise<ArchiveNote['days']> {
  const noted = (await link.command('zrangebylex', NOTED_DAYS, '-', '+')) as Buffer[];
  const moved = [...(await link.hash(MOVED_DAYS))].map(([day, has]) => [day, countsFrom(has)] as const);
  return new Map([...noted.map((day) => [day.toString(), null] as const), ...moved]);
}

/** Earlier versions noted fewer counts. */
function countsFrom(json: string): Counts {
  return { ...noCounts(), ...(JSON.parse(json) as Partial<Counts>) };
}

async function note(link: Link, days: ArchiveNote['days']): Promise<void> {
  const moved = [...days].filter(([, has]) => has !== null);
  const noted = [...days.keys()].filter((day) => days.get(day) === null);
  if (noted.length > 0) await link.command('zadd', NOTED_DAYS, ...noted.flatMap((day) => ['0', day]));
  if (moved.length === 0) return;
  await link.command('hset', MOVED_DAYS, ...moved.flatMap(([day, has]) => [day, JSON.stringify(has)]));
  await link.command('zrem', NOTED_DAYS, ...moved.map(([day]) => day));
}

async function forget(link: Link, day: string): Promise<void> {
  await link.command('zrem', NOTED_DAYS, day);
  await link.command('hdel', MOVED_DAYS, day);
}

/** Merges two notes. Counts of a day only grow, so the larger figures apply. */
function largest(here: ArchiveNote['days'], given: ArchiveNote['days']): ArchiveNote['days'] {
  return new Map(
    [...given].map(([day, has]) => {
      const known = here.get(day) ?? null;
      if (known === null || has === null) return [day, known ?? has];
      return [day, Object.fromEntries(COUNTS.map((count) => [count, Math.max(known[count], has[count])])) as Counts];
    }),
  );
}

/** Rows of one key. */
type KeyRows = readonly [UsageRow, ...UsageRow[]];

function sumOf(rows: KeyRows): string {
  return rows.reduce((sum, row) => countsOf(row).reduce((part, [, count]) => part + count, sum), 0).toString();
}

/** Returns the fields and counts of a ledger with these rows. */
export function fieldsOf(rows: readonly UsageRow[]): readonly string[] {
  return rows.flatMap((row) =>
    countsOf(row).flatMap(([name, count]) =>
      count === 0 ? [] : [usageField(row.plan, row.operation, name), count.toString()],
    ),
  );
}

/** Returns the counts of a row as its ledger has them: excess instead of units. */
function countsOf(row: UsageRow): readonly (readonly [name: string, count: number])[] {
  return COUNTS.map((count) => (count === 'units' ? [EXCESS, row.units - row.requests] : [count, row[count]]));
}

/** Groups rows by key; yields `size` keys at a time. */
async function* inGroups(all: AsyncIterable<readonly UsageRow[]>, size: number): AsyncGenerator<readonly KeyRows[]> {
  let keys: [UsageRow, ...UsageRow[]][] = [];
  for await (const rows of all) {
    for (const row of rows) {
      const last = keys.at(-1);
      if (last?.[0].key === row.key) last.push(row);
      else {
        if (keys.length === size) {
          yield keys;
          keys = [];
        }
        keys.push([row]);
      }
    }
  }
  if (keys.length > 0) yield keys;
}
