import { COUNTS } from '../../counts.js';
import type { Accounts, LedgerStore } from '../../ledger.js';
import type { DayStore, UsageRow } from '../../port.js';
import { MAX_DAYS } from './active-days.js';
import { nowMs } from '../gateways.js';
import type { Link } from '../link/link.js';
import { loadScript } from '../link/script.js';
import { ARCHIVE, ARCHIVED_DAYS, dayNumberOf, EXCESS, ledgerName, STORE, usageField } from '../names.js';
import { dayRows, storedRows } from './rows.js';

/** Calls under way at once: few enough that each keeps its deadline. */
const SENT_AT_ONCE = 32;

const REMOVE = loadScript('ledger/remove');

const SUBTRACT = loadScript('ledger/subtract');

const MARK = loadScript('ledger/mark');

const UNMARK = loadScript('ledger/unmark');

const RESTORE = loadScript('ledger/restore', { MAX_DAYS });

export function ledgerStore(
  link: Link,
  days: DayStore,
  usageDays: number,
  accounts: Accounts,
  close: () => Promise<void>,
): LedgerStore {
  const seconds = ((usageDays + 1) * 86_400).toString();
  /** Ledgers of the keys of these rows, some at a time; in a Cluster each script has one. */
  const each = async (
    day: string,
    rows: AsyncIterable<readonly UsageRow[]>,
    atOnce: number,
    work: (names: readonly string[], keys: readonly KeyRows[]) => Promise<unknown>,
  ): Promise<void> => {
    for await (const keys of inGroups(rows, SENT_AT_ONCE)) {
      const size = link.cluster ? 1 : atOnce;
      const parts = Array.from({ length: Math.ceil(keys.length / size) }, (_, n) =>
        keys.slice(n * size, (n + 1) * size),
      );
      await Promise.all(
        parts.map((part) =>
          work(
            part.map((its) => ledgerName(its[0]!.key, dayNumberOf(day))),
            part,
          ),
        ),
      );
    }
  };
  return {
    accounts,
    rows: (names, part) => storedRows(link, names.map(dayNumberOf), part),
    day: (day) => dayRows(link, dayNumberOf(day)),
    remove: (day, rows) =>
      each(day, rows, SENT_AT_ONCE, async (names, keys) => {
        const answer = await link.run(REMOVE, names, [seconds, ...keys.map(sumOf)]);
        for (const index of answer.toString().split(' ').filter(Boolean).map(Number))
          await link.run(SUBTRACT, [names[index]!], fieldsOf(keys[index]!));
      }),
    mark: (day, rows) => each(day, rows, SENT_AT_ONCE, (names) => link.run(MARK, names, [seconds])),
    unmark: (day, rows) => each(day, rows, SENT_AT_ONCE, (names) => link.run(UNMARK, names, [])),
    restore: (day, rows) =>
      each(day, rows, 1, ([name = ''], [its = []]) =>
        link.run(RESTORE, [name, name.replace(/usage:\d+$/, 'key')], [seconds, ...fieldsOf(its)]),
      ),
    async ids() {
      const [id, also] = (await link.command('hmget', STORE, 'id', 'also')) as readonly (Buffer | null)[];
      return `${String(id)} ${also?.toString() ?? ''}`.split(' ').filter(Boolean);
    },
    async archive() {
      const id = (await link.command('get', ARCHIVE)) as Buffer | null;
      if (id === null) return null;
      const noted = (await link.command('zrangebylex', ARCHIVED_DAYS, '-', '+')) as Buffer[];
      return { id: id.toString(), days: new Set(noted.map((day) => day.toString())) };
    },
    async bind(archiveId, names) {
      await link.command('set', ARCHIVE, archiveId, 'NX');
      const bound = String(await link.command('get', ARCHIVE));
      if (bound === archiveId) await link.command('zadd', ARCHIVED_DAYS, ...names.flatMap((day) => ['0', day]));
      return bound;
    },
    async unbind(day) {
      await link.command('zrem', ARCHIVED_DAYS, day);
      if ((await link.command('exists', ARCHIVED_DAYS)) === 0) await link.command('del', ARCHIVE);
    },
    nowMs: () => nowMs(link),
    finality: (nowMs) => days.finality(nowMs),
    close,
  };
}

/** Rows of one key each. */
type KeyRows = readonly UsageRow[];

function sumOf(rows: KeyRows): string {
  return rows.reduce((sum, row) => countsOf(row).reduce((part, [, count]) => part + count, sum), 0).toString();
}

/** Fields and counts of the ledger that has these rows. */
export function fieldsOf(rows: KeyRows): readonly string[] {
  return rows.flatMap((row) =>
    countsOf(row).flatMap(([name, count]) =>
      count === 0 ? [] : [usageField(row.plan, row.operation, name), count.toString()],
    ),
  );
}

/** The counts of a row as its ledger has them. */
function countsOf(row: UsageRow): readonly (readonly [name: string, count: number])[] {
  return COUNTS.map((count) => (count === 'units' ? [EXCESS, row.units - row.requests] : [count, row[count]]));
}

/** The rows by key, so many keys at a time. */
async function* inGroups(all: AsyncIterable<readonly UsageRow[]>, size: number): AsyncGenerator<readonly KeyRows[]> {
  let keys: UsageRow[][] = [];
  for await (const rows of all) {
    for (const row of rows) {
      const last = keys.at(-1);
      if (last?.[0]?.key === row.key) last.push(row);
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
