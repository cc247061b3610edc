import t, { type Test } from 'tap';
import type { AdmissionEngine } from '../../../../src/gateway/store/port.js';
import { openRedisEngine } from '../../../../src/gateway/store/redis/engine.js';
import { openEmbeddedEngine } from '../../../../src/gateway/store/embedded/engine.js';
import { DailyUsage } from '../../../../src/gateway/usage/daily/daily.js';
import type { Dimension, ReportRange } from '../../../../src/gateway/usage/grouping/range.js';
import { ledgerOf, reportOn } from '../../../../src/gateway/usage/report.js';
import { reportOfDays, shownOf } from '../../../../src/gateway/usage/shown-report.js';
import { seedDays, seedEmbedded, seedIds, seedRedis } from '../../../bench/seed-usage.js';
import { redisFor } from '../../../servers/redis.js';
import { temporaryFolder } from '../../../servers/program.js';
import { until } from '../../../servers/until.js';
import { PLANS } from '../../../conformance/cast.js';

const DAY_MS = 86_400_000;
const nowMs = Date.now();
const today = new Date(nowMs).toISOString().slice(0, 10);

/** An engine whose readings of the ledger are counted. */
function watched(engine: AdmissionEngine) {
  const read: string[] = [];
  const usage: AdmissionEngine['usage'] = {
    rows: (from, to, ...rest) => {
      read.push(`${from} ${to}`);
      return engine.usage.rows(from, to, ...rest);
    },
  };
  return { engine: { ...engine, usage }, read };
}

async function openSeeded(t: Test, name: string, keys: number, days: number): Promise<AdmissionEngine> {
  if (name === 'redis') {
    const redis = await redisFor(t);
    await seedRedis(redis.url, keys, days);
    const engine = openRedisEngine({ url: redis.url, deadlineMs: 10_000, plans: PLANS, usageDays: 400 });
    t.teardown(() => engine.close());
    await until('Redis responds', async () => (await engine.keys.page(null, 1)).length > 0);
    return engine;
  }
  const folder = temporaryFolder(t);
  await seedEmbedded(folder, keys, days);
  const engine = openEmbeddedEngine({ folder, plans: PLANS, usageDays: 400, mapBytes: 2 ** 30 });
  t.teardown(() => engine.close());
  return engine;
}

const all = { max: 10_000, isShown: (): boolean => true };

/** The same from the ledger. */
async function exactReport(range: ReportRange, engine: AdmissionEngine) {
  return shownOf(range, (await reportOn(range, ledgerOf(range, engine.usage), engine)).report, all);
}

async function daysOf(daily: DailyUsage, range: ReportRange) {
  let days: Awaited<ReturnType<DailyUsage['days']>> = null;
  await until('the days are in memory', async () => (days = await daily.days(range, nowMs)) !== null, 60_000);
  return days!;
}

for (const name of ['embedded', 'redis'])
  t.test(`${name}: pages about 10,000 keys read final days once, and sum them as the ledger does`, async (t) => {
    const { engine, read } = watched(await openSeeded(t, name, 10_000, 2));
    const daily = new DailyUsage({ engine });
    const range = (by: readonly Dimension[]): ReportRange => ({
      ...{ from: seedDays(2)[0]!, to: today, by, names: false, openFrom: today },
    });
    await daysOf(daily, range(['key']));
    t.ok(read.length >= 2, 'the latest day alone, then the others');
    const before = read.filter((each) => !each.startsWith(today)).length;
    // A report over all keys of Redis rests most of the time.
    const groupings = [['key'], ['plan', 'operation'], ['day', 'plan'], ['customer']] as const;
    for (const by of name === 'redis' ? groupings.slice(0, 1) : groupings) {
      const report = await reportOfDays(range(by), await daysOf(daily, range(by)), engine, all);
      const exact = await exactReport(range(by), engine);
      read.pop();
      t.same(report.totals, exact.totals);
      t.same(report.rows, exact.rows, `by ${by.join()}`);
      t.equal(report.left, exact.left);
    }
    t.equal(read.filter((each) => !each.startsWith(today)).length, before, 'later pages read no final day');
    const one = seedIds(10_000)[5]!;
    const ofKey = { ...range(['operation']), key: one };
    const report = await reportOfDays(ofKey, await daysOf(daily, ofKey), engine, all);
    const exact = await exactReport(ofKey, engine);
    t.same(report.totals, exact.totals, 'of one key');
    const { plot } = await reportOfDays(range(['key']), await daysOf(daily, range(['key'])), engine, all);
    t.equal(plot.days[0]!.parts.size, 8, 'seven keys and the rest');
    const units = plot.days.flatMap(({ parts }) => [...parts.values()]).reduce((sum, each) => sum + each, 0);
    t.equal(
      units,
      (await reportOfDays(range(['plan']), await daysOf(daily, range(['plan'])), engine, all)).totals.units,
    );
  });

for (const name of ['embedded', 'redis'])
  t.test(`${name}: days are read again after counts were raised, and when they are no longer final`, async (t) => {
    const { engine, read } = watched(await openSeeded(t, name, 20, 3));
    const daily = new DailyUsage({ engine });
    const [first, second, third] = seedDays(3) as [string, string, string];
    const range: ReportRange = { from: first, to: third, by: ['day'], openFrom: today };
    const unitsOf = async (asked = range): Promise<readonly number[]> => {
      const { rows } = await reportOfDays(asked, await daysOf(daily, asked), engine, all);
      return rows.map(({ units }) => units);
    };
    const before = await unitsOf();
    const key = seedIds(20)[3]!;
    const counts = { requests: 1_000_000, units: 3_000_000, returned: 0, limited: 0, banned: 0, failed: 0 };
    const rows = [{ key, day: second, plan: 'free', operation: 'late', ...counts }];
    await engine.transfer.raise(rows);
    const after = await unitsOf();
    t.same(after, [before[0], before[1]! + counts.units, before[2]]);
    const count = read.length;
    t.same(await unitsOf({ ...range, openFrom: third }), after);
    t.equal(read.length, count + 1, 'only the day that is open');
    const without = [{ gateway: 'g', host: 'h', from: second, to: third, seenMs: 0, finalAtMs: null }];
    await unitsOf({ ...range, without });
    t.equal(read.length, count + 2, 'counts of a gateway may be missing now: its days are read again');
  });

t.test('what does not fit into memory is left to the ledger, and not read again', async (t) => {
  const { engine, read } = watched(await openSeeded(t, 'embedded', 20, 3));
  const daily = new DailyUsage({ engine, maxRows: 130 });
  const [first, second, third] = seedDays(3) as [string, string, string];
  const range: ReportRange = { from: second, to: third, by: ['day'], openFrom: today };
  await daysOf(daily, range);
  t.equal(await daily.days({ ...range, from: first }, nowMs), null, 'three days have 180 rows');
  const { length } = read;
  t.equal(await daily.days({ ...range, from: first }, nowMs), null);
  t.equal(read.length, length);
  await daysOf(daily, range);
  t.equal(read.length, length, 'the latest days stay');
  t.equal(nowMs - Date.parse(third) < 2 * DAY_MS, true);
});
