import { setTimeout as pause } from 'node:timers/promises';
import type { UsageCounts, UsageRow, UsageStore } from '../../port.js';
import type { Link } from './link.js';
import { dayName, dayNumberOf, KEY_INDEX, keyPrefix } from './names.js';
import { scriptOf } from './script.js';
import type { Script } from './script.js';

/** Day ledgers read by one script run: keeps Redis busy for some 0.1 ms. */
const READ_AT_ONCE = 32;
/** A report over all keys leaves Redis to the admissions for so many times as long as it took from them. */
const REST_FACTOR = 5;
/** Runs under way at once in a Cluster, where each is about one key. */
const RUNS_AT_ONCE = 8;
const FIELD_END = '\u001f';

/**
 * KEYS: prefixes of keys. ARGV: first and last day. Answers one line for each day ledger there is: place
 * of the key, day, then fields and counts.
 */
const READ: Script = scriptOf(`
local lines = { pack('<d', clock) }
for k = 1, #KEYS do
  for day = tonumber(ARGV[2]), tonumber(ARGV[3]) do
    local ledger = call('HGETALL', KEYS[k] .. 'usage:' .. day)
    if #ledger > 0 then lines[#lines + 1] = (k - 1) .. '\\31' .. day .. '\\31' .. table.concat(ledger, '\\31') .. '\\n' end
  end
end
lines[#lines + 1] = '\\n'
return table.concat(lines)
`);

export function usageStore(link: Link): UsageStore {
  return {
    async *rows(from, to, keyId) {
      const first = dayNumberOf(from);
      const last = dayNumberOf(to);
      if (Number.isNaN(first) || Number.isNaN(last)) throw new RangeError('days are written like 2026-11-21');
      for await (const ids of keyId === undefined ? link.idsIn(KEY_INDEX, null) : [[keyId]]) {
        for (const group of groupsOf(ids, link.cluster ? RUNS_AT_ONCE : Math.floor(READ_AT_ONCE / (last - first + 1)))) {
          const beganMs = performance.now();
          const rows = await rowsOf(link, group, first, last);
          const tookMs = performance.now() - beganMs;
          if (rows.length > 0) yield rows;
          if (keyId === undefined) await pause(REST_FACTOR * tookMs);
        }
      }
    },
  };
}

function* groupsOf(ids: readonly string[], size: number): Generator<readonly string[]> {
  const step = Math.max(size, 1);
  for (let at = 0; at < ids.length; at += step) yield ids.slice(at, at + step);
}

/** Key by key, as the ids stand; within a key by day. */
async function rowsOf(link: Link, ids: readonly string[], first: number, last: number): Promise<readonly UsageRow[]> {
  if (!link.cluster) return rowsOfRun(link, ids, first, last);
  const found = await Promise.all(ids.map((id) => rowsOfRun(link, [id], first, last)));
  return found.flat();
}

/** One run where the days fit into it; several, for one key alone, where they don't. */
async function rowsOfRun(link: Link, ids: readonly string[], first: number, last: number): Promise<readonly UsageRow[]> {
  const rows: UsageRow[] = [];
  for (let day = first; day <= last; day += READ_AT_ONCE) {
    const until = Math.min(day + READ_AT_ONCE - 1, last);
    const answer = await link.run(READ, ids.map(keyPrefix), [day.toString(), until.toString()]);
    for (const line of answer.toString().split('\n')) if (line !== '') pushRows(rows, ids, line);
  }
  return rows;
}

/** The rows of one day ledger: its fields hold plan, operation and the name of the count. */
function pushRows(rows: UsageRow[], ids: readonly string[], line: string): void {
  const [place = '', day = '', ...fields] = line.split(FIELD_END);
  const name = dayName(Number(day));
  const found = new Map<string, Mutable<UsageRow>>();
  for (let at = 0; at < fields.length; at += 2) {
    const field = fields[at]!;
    const countAt = field.lastIndexOf('|');
    const label = field.slice(0, countAt);
    let row = found.get(label);
    if (row === undefined) {
      const planEnd = label.indexOf('|');
      row = { key: ids[Number(place)]!, plan: label.slice(0, planEnd), operation: label.slice(planEnd + 1), day: name, requests: 0, limited: 0, banned: 0, failed: 0 };
      found.set(label, row);
    }
    row[field.slice(countAt + 1) as keyof UsageCounts] = Number(fields[at + 1]);
  }
  rows.push(...found.values());
}

type Mutable<T> = { -readonly [K in keyof T]: T[K] };
