import type { Test } from 'tap';
import { DAY_MS } from '../../../../src/gateway/admission/bucket.js';
import { COUNTS, noCounts } from '../../../../src/gateway/store/records/counts.js';
import { openRedisEngine } from '../../../../src/gateway/store/redis/engine.js';
import { openRedisLedger } from '../../../../src/gateway/config/open-store.js';
import type { LedgerStore } from '../../../../src/gateway/store/ledger.js';
import type { AdmissionEngine, UsageStore } from '../../../../src/gateway/store/port.js';
import type { UsageRow } from '../../../../src/gateway/store/records/counts.js';
import type { Archive } from '../../../../src/gateway/usage/archive/archive.js';
import { archivedRows, ledgerRows, openArchive } from '../../../../src/gateway/usage/archive/ledger.js';
import type { LedgerSettings } from '../../../../src/gateway/usage/archive/ledger.js';
import { ledgerOf } from '../../../../src/gateway/usage/report.js';
import type { ReportRange } from '../../../../src/gateway/usage/grouping/range.js';
import { dayName, keyOf, newCustomer, newKey, PLANS, type Actor } from '../../../conformance/cast.js';
import { temporaryFolder } from '../../../servers/program.js';

const NOW_MS = Date.now();
/** So many days ago; at noon. */
export const agoMs = (days: number): number => (Math.floor(NOW_MS / DAY_MS) - days) * DAY_MS + DAY_MS / 2;
export const ago = (days: number): string => dayName(agoMs(days));

/** A store with an engine that counts, and the settings that name both. */
export interface Stage {
  readonly engine: AdmissionEngine;
  readonly settings: LedgerSettings;
  readonly store: LedgerStore;
}

/** @param archive a PostgreSQL address @param usage few days: a move looks at each, and Redis rests in between */
export async function openStage(t: Test, redisUrl: string, archive: string, usage = 400): Promise<Stage> {
  const settings = settingsOf(temporaryFolder(t), redisUrl, archive, usage);
  const engine = openRedisEngine({
    ...{ url: redisUrl, deadlineMs: 2_000, plans: PLANS, usageDays: 400, events: true },
    archivedRows: archivedRows(settings),
  });
  await engine.check();
  const store = openRedisLedger(settings);
  t.teardown(() => Promise.all([engine.close(), store.close()]));
  return { engine, settings, store };
}

function settingsOf(data: string, redis: string, archive: string, usage: number): LedgerSettings {
  return {
    data,
    store: {
      ...{ redis, deadline: 10_000, usage, archive, archive_after: 40, final_after: 7 * DAY_MS, map_size: 2 ** 28 },
      ...{ on_failure: 'local', gateways: 'auto', eviction: 'refuse', replicas: 'auto', replica_wait: 1_000 },
    },
  };
}

export function withArchive(settings: LedgerSettings, archive: string): LedgerSettings {
  return { ...settings, store: { ...settings.store, archive } };
}

export async function archiveOf(t: Test, settings: LedgerSettings): Promise<Archive> {
  const archive = await openArchive(settings);
  if (archive === null) throw new Error('no archive is set');
  t.teardown(() => archive.close());
  return archive;
}

/**
 * Counts on some keys on each of these days, of two operations; a key is idle on some.
 * @param ofCustomer so many of them, the last ones, are keys of one customer
 */
export async function use(
  engine: AdmissionEngine,
  keyCount: number,
  daysAgo: readonly number[],
  ofCustomer = 0,
): Promise<readonly Actor[]> {
  const { id: customer } = await newCustomer(engine, 'open');
  const keys = await Promise.all(
    Array.from({ length: keyCount }, (_, n) =>
      n < keyCount - ofCustomer ? newKey(engine, 'open') : keyOf(engine, customer),
    ),
  );
  for (const days of daysAgo)
    await engine.admit(
      keys
        .filter((_, n) => (n + days) % 5 !== 0)
        .flatMap(({ subject }, n) =>
          ['listPets', 'createPet', 'createPet'].slice(n % 3).map((operation) => ({
            subject,
            operation,
            scope: null,
            cost: operation === 'createPet' ? 3 : 1,
            nowMs: agoMs(days),
          })),
        ),
    );
  return keys;
}

export async function gathered(rows: AsyncIterable<readonly UsageRow[]>): Promise<UsageRow[]> {
  const all: UsageRow[] = [];
  for await (const some of rows) all.push(...some);
  return all;
}

/** All rows of a range, of store and archive, a row for each key, day, plan and operation. */
export async function allRows(
  store: LedgerStore,
  archive: Archive | null,
  from = ago(399),
  whose: Pick<ReportRange, 'key' | 'customer'> = {},
): Promise<readonly UsageRow[]> {
  const sums = new Map<string, UsageRow>();
  const usage: UsageStore = {
    rows: (from, to, keyId, after) => ledgerRows(store, () => Promise.resolve(archive), { from, to, keyId, after }),
  };
  for (const row of await gathered(ledgerOf({ from, to: ago(0), ...whose }, usage))) {
    const name = [row.key, row.day, row.plan, row.operation].join(' ');
    const sum = { ...row, ...noCounts() };
    for (const count of COUNTS) sum[count] = row[count] + (sums.get(name)?.[count] ?? 0);
    sums.set(name, sum);
  }
  return [...sums].sort(([a], [b]) => (a < b ? -1 : 1)).map(([, row]) => row);
}
