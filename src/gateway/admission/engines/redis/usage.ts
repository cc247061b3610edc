import type { Failure, UsageCounts, UsageRow, UsageStore } from '../../port.js';
import type { Link } from './link.js';
import { dayName, dayNumber, dayNumberOf, KEY_INDEX, keyPrefix, usageField } from './names.js';
import { scriptOf } from './script.js';
import type { Script } from './script.js';

/** Day ledgers read at once. */
const READ_AT_ONCE = 128;

/** KEYS[1]: the key's prefix. ARGV: seconds the ledger is kept, then day, field, count, and so on. */
const FAIL: Script = scriptOf(`
for n = 3, #ARGV, 3 do
  local name = KEYS[1] .. 'usage:' .. ARGV[n]
  call('HINCRBY', name, ARGV[n + 1], ARGV[n + 2])
  if call('TTL', name) < 0 then call('EXPIRE', name, ARGV[2]) end
end
return pack('<d', clock) .. '1'
`);

/** Counts failures, each key in one step. */
export async function fail(link: Link, failures: readonly Failure[], usageDays: number): Promise<void> {
  const keys = new Map<string, string[]>();
  for (const { keyId, plan, operation, admittedAtMs } of failures) {
    const args = keys.get(keyId) ?? [((usageDays + 1) * 86_400).toString()];
    args.push(dayNumber(admittedAtMs).toString(), usageField(plan, operation, 'failed'), '1');
    keys.set(keyId, args);
  }
  await Promise.all([...keys].map(([keyId, args]) => link.run(FAIL, [keyPrefix(keyId)], args)));
}

export function usageStore(link: Link): UsageStore {
  return {
    async *rows(from, to, keyId) {
      const first = dayNumberOf(from);
      const last = dayNumberOf(to);
      if (Number.isNaN(first) || Number.isNaN(last)) throw new RangeError('days are written like 2026-11-21');
      for await (const ids of keyId === undefined ? link.idsIn(KEY_INDEX, null) : [[keyId]]) {
        const keysAtOnce = Math.max(1, Math.floor(READ_AT_ONCE / (last - first + 1)));
        for (let from = 0; from < ids.length; from += keysAtOnce) {
          const some = ids.slice(from, from + keysAtOnce);
          const rows = (await Promise.all(some.map((id) => rowsOf(link, id, first, last)))).flat();
          if (rows.length > 0) yield rows;
        }
      }
    },
  };
}

async function rowsOf(link: Link, id: string, first: number, last: number): Promise<readonly UsageRow[]> {
  const rows: UsageRow[] = [];
  for (let day = first; day <= last; day += READ_AT_ONCE) {
    const days = Array.from({ length: Math.min(READ_AT_ONCE, last - day + 1) }, (_, n) => day + n);
    const ledgers = await Promise.all(days.map((each) => link.hash(`${keyPrefix(id)}usage:${each}`)));
    ledgers.forEach((ledger, n) => rows.push(...rowsOfDay(id, dayName(day + n), ledger)));
  }
  return rows;
}

function rowsOfDay(key: string, day: string, ledger: ReadonlyMap<string, string>): readonly UsageRow[] {
  const rows = new Map<string, UsageRow>();
  for (const [field, count] of ledger) {
    const lastBar = field.lastIndexOf('|');
    const name = field.slice(0, lastBar);
    const firstBar = name.indexOf('|');
    const none: UsageCounts = { requests: 0, limited: 0, banned: 0, failed: 0 };
    const row = rows.get(name) ?? { key, plan: name.slice(0, firstBar), operation: name.slice(firstBar + 1), day, ...none };
    rows.set(name, { ...row, [field.slice(lastBar + 1)]: Number(count) });
  }
  return [...rows.values()];
}
