import { StoreUnavailable } from '../../../admission/port.js';
import type { StoredRow, UsageRow } from '../../records/counts.js';
import type { ArchivedRows, LedgerStore, LedgerTransfer } from '../../ledger.js';
import { MAX_DAYS } from './active-days.js';
import { groupBy } from '../../../../shared/group-by.js';
import { archiveNote, fieldsOf } from './moved-days.js';
import { storedRows } from './usage.js';
import type { Link } from '../link/link.js';
import { loadScript } from '../link/script.js';
import { dayNumberOf, dayNumbers, keyName, ledgerName, RAISED, STORE } from '../keyspace/names.js';

/** Ledgers in flight together. */
const RAISED_AT_ONCE = 32;
/** A day may be moved while it is compared; hardly ever twice. */
const ATTEMPTS = 3;
/** The script's response if the caller must compare the archive. */
const UNSURE = '2';

const RAISE = loadScript('ledger/raise', { MAX_DAYS });

/** Raises counts to at least those of the rows. Resolves to how many ledgers grew. */
export type Raise = (rows: readonly StoredRow[]) => Promise<number>;

export function ledgerTransferOf(link: Link, archive: LedgerStore, raise: Raise, usageDays: number): LedgerTransfer {
  return {
    archive,
    async *rowsBefore(before) {
      const end = dayNumberOf(before);
      const noted = (await archive.archive())?.days ?? new Map<string, null>();
      // Late counts stay next to the archive permanently.
      const first = Math.min(end - usageDays - 1, ...[...noted.keys()].map(dayNumberOf));
      for await (const rows of storedRows(link, dayNumbers(first, end - 1), { archived: 'told' }))
        // Days moved by version 0.3 have no marks.
        yield rows.map((row) => (noted.get(row.day) === null ? { ...row, isOnTop: true } : row));
    },
    raise,
    revision: async () =>
      ((await link.command('hmget', STORE, 'id', RAISED, 'accepted')) as readonly unknown[]).join(' '),
  };
}

/** @param archived reads the archive; without it, days that need a comparison reject with StoreUnavailable */
export function raiseOf(link: Link, usageDays: number, archived: ArchivedRows | undefined): Raise {
  const seconds = ((usageDays + 1) * 86_400).toString();
  /** Raises the counts of one key and day, in one step. */
  const send = async ([{ key, day }]: Its, isOnTop: boolean, fields: readonly string[]): Promise<string> => {
    if (fields.length === 0) return '0';
    const names = [ledgerName(key, dayNumberOf(day)), keyName(key)];
    return (await link.run(RAISE, names, [seconds, isOnTop ? '1' : '0', ...fields])).toString();
  };
  const isOnTop = ([first]: Its): boolean => first.isOnTop === true;
  const compare = async (ledgers: readonly Its[]): Promise<(its: Its) => Promise<string>> => {
    if (archived === undefined) throw new StoreUnavailable('days are archived, and the archive is not readable here');
    const days = ledgers.map(([first]) => first);
    const there = groupBy(await archived(await archiveNote(link), days), nameOf);
    return (its) => {
      const own = there.get(nameOf(its[0])) ?? [];
      return send(its, !isOnTop(its), combined(its, own, isOnTop(its) ? 1 : -1));
    };
  };
  const raiseAll = async (rows: readonly StoredRow[]): Promise<number> => {
    let [unsure, grown]: [readonly Its[], number] = [[...groupBy(rows, nameOf).values()], 0];
    const run = async (work: (its: Its) => Promise<string>): Promise<void> => {
      const rest: Its[] = [];
      for (let from = 0; from < unsure.length; from += RAISED_AT_ONCE) {
        const some = unsure.slice(from, from + RAISED_AT_ONCE);
        for (const [n, answer] of (await Promise.all(some.map(work))).entries())
          if (answer === UNSURE) rest.push(some[n]!);
          else grown += Number(answer);
      }
      unsure = rest;
    };
    for (let attempt = 0; attempt < ATTEMPTS; attempt += 1) {
      await run((its) => send(its, isOnTop(its), fieldsOf(its)));
      if (unsure.length > 0) await run(await compare(unsure));
      if (unsure.length === 0) return grown;
    }
    throw new StoreUnavailable('days are being moved to the archive: try again in a few minutes');
  };
  const changeRevision = (): Promise<unknown> => link.command('hincrby', STORE, RAISED, '1');
  return async (rows) => {
    if (rows.length === 0) return 0;
    await changeRevision();
    try {
      return await raiseAll(rows);
    } finally {
      await changeRevision();
    }
  };
}

/** Rows of one key and day. */
type Its = readonly [StoredRow, ...StoredRow[]];

function nameOf({ key, day }: Pick<UsageRow, 'key' | 'day'>): string {
  return `${key} ${day}`;
}

/** Returns fields and counts of these rows with the archive's added (1), or without those that it has (-1). */
function combined(rows: readonly UsageRow[], archived: readonly UsageRow[], sign: 1 | -1): readonly string[] {
  const counts = countsIn(fieldsOf(rows));
  for (const [field, count] of countsIn(fieldsOf(archived))) counts.set(field, (counts.get(field) ?? 0) + sign * count);
  return [...counts].flatMap(([field, count]) => (count > 0 ? [field, count.toString()] : []));
}

function countsIn(fields: readonly string[]): Map<string, number> {
  return new Map(
    Array.from({ length: fields.length / 2 }, (_, n) => [fields[2 * n]!, Number(fields[2 * n + 1])] as const),
  );
}
