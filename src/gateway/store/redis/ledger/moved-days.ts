import { COUNTS } from '../../counts.js';
import type { CustomerStore } from '../../records/customer.js';
import type { ArchivedLedger } from '../../ledger.js';
import type { DayStore, UsageRow } from '../../port.js';
import { enterDay } from './active-days.js';
import type { Link } from '../link/link.js';
import { scriptOf } from '../link/script.js';
import { ARCHIVE, ARCHIVED_DAYS, dayNumberOf, EXCESS, GATEWAY_DAYS, ledgerName, ON_TOP, usageField } from '../names.js';
import { dayRows, storedRows } from './rows.js';

/** Calls under way at once: few enough that each keeps its deadline. */
const SENT_AT_ONCE = 32;

/**
 * KEYS: ledgers, on a single Redis many. ARGV: seconds that a mark is kept, and the sum of all counts that each had
 * when it was archived. Counts only grow, so that an equal sum is the same ledger: the mark takes its place. Answers the
 * places of those that have more. One with the mark is done.
 */
const REMOVE = scriptOf(`
local more = {}
for k = 1, #KEYS do
  local ledger, sum, isDone = call('HGETALL', KEYS[k]), 0, false
  for n = 1, #ledger, 2 do
    if ledger[n] == '${ON_TOP}' then isDone = true else sum = sum + ledger[n + 1] end
  end
  if not isDone and (#ledger == 0 or sum == tonumber(ARGV[k + 2])) then
    call('DEL', KEYS[k])
    call('HSET', KEYS[k], '${ON_TOP}', '1')
    call('EXPIRE', KEYS[k], ARGV[2])
  elseif not isDone then
    more[#more + 1] = k - 1
  end
end
return pack('<d', clock) .. ' ' .. table.concat(more, ' ')
`);

/** KEYS[1]: a ledger. ARGV: fields and counts that were archived. What it has more stays beside the mark, for ever. */
const SUBTRACT = scriptOf(`
if call('HEXISTS', KEYS[1], '${ON_TOP}') == 0 then
  local archived, ledger = {}, call('HGETALL', KEYS[1])
  for n = 2, #ARGV, 2 do archived[ARGV[n]] = tonumber(ARGV[n + 1]) end
  call('DEL', KEYS[1])
  for n = 1, #ledger, 2 do
    local more = ledger[n + 1] - (archived[ledger[n]] or 0)
    if more > 0 then call('HSET', KEYS[1], ledger[n], string.format('%.0f', more)) end
  end
  call('HSET', KEYS[1], '${ON_TOP}', '1')
end
return pack('<d', clock) .. '1'
`);

/** KEYS: ledgers. ARGV: seconds that a mark is kept. */
const MARK = scriptOf(`
for k = 1, #KEYS do
  call('HSET', KEYS[k], '${ON_TOP}', '1')
  call('EXPIRE', KEYS[k], ARGV[2])
end
return pack('<d', clock) .. '1'
`);

/** KEYS: ledgers. What is on top of the archive stays for ever, as the archive does. */
const UNMARK = scriptOf(`
for k = 1, #KEYS do
  call('HDEL', KEYS[k], '${ON_TOP}')
  call('PERSIST', KEYS[k])
end
return pack('<d', clock) .. '1'
`);

/** KEYS: a ledger and its key. ARGV: seconds it is kept, fields and counts, added unless they are in it. */
const RESTORE = scriptOf(`
if call('HDEL', KEYS[1], '${ON_TOP}') == 1 then
  for n = 3, #ARGV, 2 do call('HINCRBY', KEYS[1], ARGV[n], ARGV[n + 1]) end
  call('EXPIRE', KEYS[1], ARGV[2])
  ${enterDay('KEYS[1]')}
end
return pack('<d', clock) .. '1'
`);

export function ledgerStore(
  link: Link,
  days: DayStore,
  usageDays: number,
  customers: CustomerStore,
  close: () => Promise<void>,
): ArchivedLedger {
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
    customers: (afterId, count) => customers.page(afterId, count),
    rows: (names, part) => storedRows(link, names.map(dayNumberOf), part),
    day: (day) => dayRows(link, dayNumberOf(day)),
    remove: (day, rows) =>
      each(day, rows, SENT_AT_ONCE, async (names, keys) => {
        const answer = await link.run(REMOVE, names, [seconds, ...keys.map(sumOf)]);
        for (const place of answer.toString().split(' ').filter(Boolean).map(Number))
          await link.run(SUBTRACT, [names[place]!], fieldsOf(keys[place]!));
      }),
    mark: (day, rows) => each(day, rows, SENT_AT_ONCE, (names) => link.run(MARK, names, [seconds])),
    unmark: (day, rows) => each(day, rows, SENT_AT_ONCE, (names) => link.run(UNMARK, names, [])),
    restore: (day, rows) =>
      each(day, rows, 1, ([name = ''], [its = []]) =>
        link.run(RESTORE, [name, name.replace(/usage:\d+$/, 'key')], [seconds, ...fieldsOf(its)]),
      ),
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
    async nowMs() {
      await link.command('exists', GATEWAY_DAYS);
      return link.storeMs(GATEWAY_DAYS);
    },
    finality: (nowMs) => days.finality(nowMs),
    close,
  };
}

/** Rows of one key each. */
type KeyRows = readonly UsageRow[];

function sumOf(rows: KeyRows): string {
  return rows.reduce((sum, row) => countsOf(row).reduce((part, [, count]) => part + count, sum), 0).toString();
}

function fieldsOf(rows: KeyRows): readonly string[] {
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
