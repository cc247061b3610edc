import { COUNTS } from '../../../counts.js';
import type { CustomerStore } from '../../../customers/record.js';
import type { ArchivedLedger } from '../../../ledger-store.js';
import type { DayStore, UsageRow } from '../../../port.js';
import { enterDay } from './active-days.js';
import { noteLateDay } from './late-days.js';
import type { Link } from '../link/link.js';
import { scriptOf } from '../link/script.js';
import { ARCHIVE, dayNumberOf, EXCESS, GATEWAY_DAYS, lateName, ledgerName, usageField } from '../names.js';
import { dayRows, storedRows } from './usage.js';

/** Calls under way at once: few enough that each keeps its deadline. */
const SENT_AT_ONCE = 32;

/**
 * KEYS: ledgers, on a single Redis many. ARGV: the sum of all counts that each had when it was archived. Counts only
 * grow, so that an equal sum is the same ledger: it goes. Answers the places of those that have more.
 */
const REMOVE = scriptOf(`
local more = {}
for k = 1, #KEYS do
  local ledger, sum = call('HGETALL', KEYS[k]), 0
  for n = 2, #ledger, 2 do sum = sum + ledger[n] end
  if #ledger > 0 and sum == tonumber(ARGV[k + 1]) then call('DEL', KEYS[k]) elseif #ledger > 0 then more[#more + 1] = k - 1 end
end
return pack('<d', clock) .. ' ' .. table.concat(more, ' ')
`);

/** KEYS: a ledger, and where its late counts stand. ARGV: fields and counts that were archived. What it has more becomes late, and it goes. */
const KEEP_MORE = scriptOf(`
local archived, ledger = {}, call('HGETALL', KEYS[1])
for n = 2, #ARGV, 2 do archived[ARGV[n]] = tonumber(ARGV[n + 1]) end
for n = 1, #ledger, 2 do
  local more = ledger[n + 1] - (archived[ledger[n]] or 0)
  if more > 0 then call('HINCRBY', KEYS[2], ledger[n], string.format('%.0f', more)) end
end
call('DEL', KEYS[1])
return pack('<d', clock) .. '1'
`);

/** KEYS: a ledger and its key. ARGV: seconds it is kept, fields and counts. */
const RESTORE = scriptOf(`
call('HSET', KEYS[1], spread(ARGV, 3))
call('EXPIRE', KEYS[1], ARGV[2])
${enterDay('KEYS[1]')}
return pack('<d', clock) .. '1'
`);

export function ledgerStore(
  link: Link,
  days: DayStore,
  usageDays: number,
  customers: CustomerStore,
  close: () => Promise<void>,
): ArchivedLedger {
  return {
    customers: (afterId, count) => customers.page(afterId, count),
    rows: (from, to, part) => storedRows(link, dayNumberOf(from), dayNumberOf(to), part),
    day: (day) => dayRows(link, dayNumberOf(day)),
    async remove(day, rows) {
      const size = link.cluster ? 1 : SENT_AT_ONCE;
      for await (const keys of inGroups(rows, SENT_AT_ONCE)) {
        const parts = Array.from({ length: Math.ceil(keys.length / size) }, (_, n) =>
          keys.slice(n * size, (n + 1) * size),
        );
        await Promise.all(parts.map((part) => removeSome(link, day, part)));
      }
    },
    async restore(day, rows) {
      const seconds = ((usageDays + 1) * 86_400).toString();
      for await (const keys of inGroups(rows, SENT_AT_ONCE))
        await Promise.all(
          keys.map((its) => {
            const name = ledgerName(its[0]!.key, dayNumberOf(day));
            return link.run(RESTORE, [name, name.replace(/usage:\d+$/, 'key')], [seconds, ...fieldsOf(its)]);
          }),
        );
    },
    async archiveId() {
      const id = (await link.command('get', ARCHIVE)) as Buffer | null;
      return id?.toString() ?? null;
    },
    async bind(archiveId) {
      await link.command('set', ARCHIVE, archiveId, 'NX');
      return String(await link.command('get', ARCHIVE));
    },
    async unbind() {
      await link.command('del', ARCHIVE);
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

async function removeSome(link: Link, day: string, keys: readonly KeyRows[]): Promise<void> {
  const number = dayNumberOf(day);
  const names = keys.map((rows) => ledgerName(rows[0]!.key, number));
  const answer = await link.run(REMOVE, names, keys.map(sumOf));
  for (const place of answer
    .toString()
    .split(' ')
    .filter((text) => text !== '')) {
    const rows = keys[Number(place)]!;
    // First the note: late counts without it would be in no report.
    await noteLateDay(link, number);
    await link.run(KEEP_MORE, [names[Number(place)]!, lateName(rows[0]!.key, number)], fieldsOf(rows));
  }
}

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
