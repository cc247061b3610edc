import { setTimeout as pause } from 'node:timers/promises';
import type { UsageCounts, UsageRow, UsageStore } from '../../port.js';
import { idsIn } from './link/ids.js';
import type { Link } from './link/link.js';
import { dayName, dayNumberOf, KEY_INDEX, ledgerName } from './names.js';
import { scriptOf } from './link/script.js';
import type { Script } from './link/script.js';

/** Day ledgers read by one script run: keeps Redis busy for some 0.1 ms. */
const READ_AT_ONCE = 32;
/** A report over all keys leaves Redis to the admissions for so many times as long as it took from them. */
const REST_FACTOR = 5;
/** Keys read at once in a Cluster, each day ledger by a command of its own. */
const KEYS_AT_ONCE = 8;
const FIELD_END = '\u001f';

/** KEYS: day ledgers. Answers one line for each there is: its place, then fields and counts. */
const READ: Script = scriptOf(`
local lines = { pack('<d', clock) }
for k = 1, #KEYS do
  local ledger = call('HGETALL', KEYS[k])
  if #ledger > 0 then lines[#lines + 1] = (k - 1) .. '\\31' .. table.concat(ledger, '\\31') .. '\\n' end
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
      for await (const ids of keyId === undefined ? idsIn(link, KEY_INDEX, null) : [[keyId]]) {
        for (const group of groupsOf(
          ids,
          link.cluster ? KEYS_AT_ONCE : Math.floor(READ_AT_ONCE / (last - first + 1)),
        )) {
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

/** Key by key, as the ids stand; within a key by day. One step where the days fit into it; several, for one key alone, where they don't. */
async function rowsOf(link: Link, ids: readonly string[], first: number, last: number): Promise<readonly UsageRow[]> {
  // Days that don't fit into one step are read key by key, or the rows of a key would not come together.
  if (ids.length > 1 && last - first >= READ_AT_ONCE) {
    const found: UsageRow[] = [];
    for (const id of ids) found.push(...(await rowsOf(link, [id], first, last)));
    return found;
  }
  const rows: UsageRow[] = [];
  for (let day = first; day <= last; day += READ_AT_ONCE) {
    const until = Math.min(day + READ_AT_ONCE - 1, last);
    const ledgers = ids.flatMap((keyId) =>
      Array.from({ length: until - day + 1 }, (_, n): Ledger => ({ keyId, day: day + n })),
    );
    for (const [ledger, counts] of await (link.cluster ? readEach(link, ledgers) : readInOneRun(link, ledgers)))
      pushRows(rows, ledger, counts);
  }
  return rows;
}

interface Ledger {
  readonly keyId: string;
  readonly day: number;
}
type Found = readonly (readonly [Ledger, Iterable<readonly [field: string, count: string]>])[];

async function readInOneRun(link: Link, ledgers: readonly Ledger[]): Promise<Found> {
  const answer = await link.run(
    READ,
    ledgers.map(({ keyId, day }) => ledgerName(keyId, day)),
    [],
  );
  return answer
    .toString()
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => {
      const [place = '', ...fields] = line.split(FIELD_END);
      return [ledgers[Number(place)]!, pairsOf(fields)];
    });
}

/** A command about one name is answered also while its slot moves to another node. */
function readEach(link: Link, ledgers: readonly Ledger[]): Promise<Found> {
  return Promise.all(
    ledgers.map(async (ledger) => [ledger, await link.hash(ledgerName(ledger.keyId, ledger.day))] as const),
  );
}

function* pairsOf(fields: readonly string[]): Generator<readonly [string, string]> {
  for (let at = 0; at + 1 < fields.length; at += 2) yield [fields[at]!, fields[at + 1]!];
}

/** The rows of one day ledger: its fields hold plan, operation and the name of the count. */
function pushRows(rows: UsageRow[], { keyId, day }: Ledger, counts: Iterable<readonly [string, string]>): void {
  const name = dayName(day);
  const found = new Map<string, Mutable<UsageRow>>();
  for (const [field, count] of counts) {
    const countAt = field.lastIndexOf('|');
    const label = field.slice(0, countAt);
    let row = found.get(label);
    if (row === undefined) {
      const planEnd = label.indexOf('|');
      row = {
        key: keyId,
        plan: label.slice(0, planEnd),
        operation: label.slice(planEnd + 1),
        day: name,
        requests: 0,
        limited: 0,
        banned: 0,
        failed: 0,
      };
      found.set(label, row);
    }
    row[field.slice(countAt + 1) as keyof UsageCounts] = Number(count);
  }
  rows.push(...found.values());
}

type Mutable<T> = { -readonly [K in keyof T]: T[K] };
