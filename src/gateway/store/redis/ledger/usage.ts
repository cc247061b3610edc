import { setTimeout as pause } from 'node:timers/promises';
import type { UsageStore } from '../../port.js';
import { noCounts, type UsageCounts, type UsageRow, type StoredRow } from '../../records/counts.js';
import type { StoredPart } from '../../ledger.js';
import { activeDays } from './active-days.js';
import { chunksOf } from './archived-days.js';
import { idsIn } from '../link/ids.js';
import type { Link } from '../link/link.js';
import { DAY_MS, dayOf } from '../../../../shared/utc-day.js';
import { dayNumberOf, dayNumbers, EXCESS, KEY_INDEX, ledgerName, ON_TOP } from '../keyspace/names.js';
import { loadScript } from '../link/script.js';

/** Existing ledgers and names per script run, which keep Redis busy for about 0.1 ms. */
const FOUND_AT_ONCE = 32;
const NAMES_AT_ONCE = 256;
/** Keys whose active days are looked up at once. */
const KEYS_AT_ONCE = 256;
/** A report over all keys pauses after each read for this multiple of its duration, to leave time for admissions. */
const REST_FACTOR = 5;
/** Names read at once in a Cluster, each by its own command. */
const COMMANDS_AT_ONCE = 128;
const FIELD_END = '\u001f';

const READ = loadScript('ledger/read', { FOUND_AT_ONCE });

export function usageStore(link: Link): UsageStore {
  return {
    rows: (from, to, keyId, after) => {
      const first = dayNumberOf(from);
      const last = dayNumberOf(to);
      if (Number.isNaN(first) || Number.isNaN(last)) throw new RangeError('days must look like 2026-11-21');
      return storedRows(link, dayNumbers(first, last), { keyId, after });
    },
  };
}

interface Ledger {
  readonly keyId: string;
  readonly day: number;
  /** Whether the key says that the archive has the day; absent if not asked. */
  readonly isArchived?: boolean;
}

/** Yields the rows of these days, in the order of keys. */
export async function* storedRows(
  link: Link,
  days: readonly number[],
  { keyId, after = null, archived }: StoredPart,
): AsyncGenerator<readonly StoredRow[]> {
  if (keyId === undefined) {
    yield* allRows(link, days, after, archived);
    return;
  }
  const ledgers = days.map((day) => ({ keyId, day }));
  for await (const { rows } of runs(link, ledgers)) if (rows.length > 0) yield rows;
}

/** Yields all whole rows of one day, by key, plan and operation. Looks up every key. */
export async function* dayRows(link: Link, day: number): AsyncGenerator<readonly UsageRow[]> {
  const nameOf = ({ key, plan, operation }: UsageRow): string => `${key}\t${plan}\t${operation}`;
  for await (const ids of idsIn(link, KEY_INDEX, null, KEYS_AT_ONCE)) {
    const ledgers = ids.map((keyId) => ({ keyId, day }));
    for await (const rows of allOf(link, ledgers))
      yield rows.filter(({ isOnTop }) => isOnTop !== true).sort((a, b) => (nameOf(a) < nameOf(b) ? -1 : 1));
  }
}

async function* allRows(
  link: Link,
  days: readonly number[],
  after: string | null,
  archived: StoredPart['archived'],
): AsyncGenerator<readonly StoredRow[]> {
  const chunks = archived === undefined ? [] : chunksOf(days);
  for await (const ids of idsIn(link, KEY_INDEX, after, KEYS_AT_ONCE)) {
    const beganMs = performance.now();
    const active = await activeDays(link, ids, chunks);
    await pause(REST_FACTOR * (performance.now() - beganMs));
    let [ledgers, isActive] = [[] as Ledger[], 0];
    for (const [index, id] of ids.entries()) {
      for (const day of days) {
        const state = active[index]!.on(day);
        const isArchived = archived !== undefined && active[index]!.isArchived(day);
        if (state === 'idle' || (isArchived && archived === 'left out')) continue;
        ledgers.push(archived === 'told' ? { keyId: id, day, isArchived } : { keyId: id, day });
        if (state === 'active') isActive += 1;
      }
      if (ledgers.length < NAMES_AT_ONCE && isActive < FOUND_AT_ONCE) continue;
      yield* allOf(link, ledgers);
      [ledgers, isActive] = [[], 0];
    }
    yield* allOf(link, ledgers);
  }
}

async function* allOf(link: Link, ledgers: readonly Ledger[]): AsyncGenerator<readonly StoredRow[]> {
  for await (const { rows, tookMs } of runs(link, ledgers)) {
    if (rows.length > 0) yield rows;
    await pause(REST_FACTOR * tookMs);
  }
}

function nameOf({ keyId, day }: Ledger): string {
  return ledgerName(keyId, day);
}

/** Yields the rows of these ledgers in order, one script run at a time; in a Cluster, several commands at a time. */
async function* runs(
  link: Link,
  ledgers: readonly Ledger[],
): AsyncGenerator<{ rows: readonly StoredRow[]; tookMs: number }> {
  for (let at = 0; at < ledgers.length;) {
    const beganMs = performance.now();
    const { found, until } = await (link.cluster ? readEach : readInOneRun)(link, ledgers, at);
    const tookMs = performance.now() - beganMs;
    const rows: StoredRow[] = [];
    for (const [{ keyId, day, isArchived = true }, counts] of found)
      rows.push(...rowsIn(keyId, day, counts, isArchived));
    yield { rows, tookMs };
    at = until;
  }
}

interface ReadRun {
  readonly found: readonly (readonly [Ledger, Iterable<readonly [field: string, count: string]>])[];
  /** Place of the first ledger that was not read. */
  readonly until: number;
}

async function readInOneRun(link: Link, ledgers: readonly Ledger[], at: number): Promise<ReadRun> {
  const asked = ledgers.slice(at, at + NAMES_AT_ONCE);
  const answer = await link.run(READ, asked.map(nameOf), []);
  const [looked, ...lines] = answer.toString().trimEnd().split('\n');
  const found = lines.map((line) => {
    const [index = '', ...fields] = line.split(FIELD_END);
    return [asked[Number(index)]!, pairsOf(fields)] as const;
  });
  return { found, until: at + Number(looked) };
}

/** Reads each ledger with its own command, which works even while its slot moves to another node. */
async function readEach(link: Link, ledgers: readonly Ledger[], at: number): Promise<ReadRun> {
  const asked = ledgers.slice(at, at + COMMANDS_AT_ONCE);
  const found = asked.map(async (ledger) => [ledger, await link.hash(nameOf(ledger))] as const);
  return { found: await Promise.all(found), until: at + asked.length };
}

function* pairsOf(fields: readonly string[]): Generator<readonly [string, string]> {
  for (let at = 0; at + 1 < fields.length; at += 2) yield [fields[at]!, fields[at + 1]!];
}

/** Returns the rows of one day ledger, whose fields are `<plan>|<operation>|<name of the count>`. */
export function rowsIn(
  keyId: string,
  day: number,
  counts: Iterable<readonly [string, string]>,
  mayBeOnTop = true,
): readonly StoredRow[] {
  const name = dayOf(day * DAY_MS);
  const found = new Map<string, Mutable<UsageRow>>();
  let isOnTop = false;
  for (const [field, count] of counts) {
    if (field === ON_TOP) {
      isOnTop = mayBeOnTop;
      continue;
    }
    const countAt = field.lastIndexOf('|');
    const label = field.slice(0, countAt);
    let row = found.get(label);
    if (row === undefined) {
      const planEnd = label.indexOf('|');
      const [plan, operation] = [label.slice(0, planEnd), label.slice(planEnd + 1)];
      row = { key: keyId, plan, operation, day: name, ...noCounts() };
      found.set(label, row);
    }
    add(row, field.slice(countAt + 1), Number(count));
  }
  return isOnTop ? [...found.values()].map((row) => ({ ...row, isOnTop })) : [...found.values()];
}

/** Adds one field to its row. Units are one per request plus the excess. */
function add(row: Mutable<UsageRow>, name: string, count: number): void {
  if (name === 'requests' || name === EXCESS) row.units += count;
  if (name !== EXCESS) row[name as keyof UsageCounts] = count;
}

type Mutable<T> = { -readonly [K in keyof T]: T[K] };
