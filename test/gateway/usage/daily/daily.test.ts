import { readdir, readFile, rename, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import t, { type Test } from 'tap';
import { StoreUnavailable } from '../../../../src/gateway/admission/port.js';
import type { AdmissionEngine } from '../../../../src/gateway/store/port.js';
import { openRedisEngine } from '../../../../src/gateway/store/redis/engine.js';
import { openEmbeddedEngine } from '../../../../src/gateway/store/embedded/engine.js';
import { DayFiles } from '../../../../src/gateway/usage/daily/day-files.js';
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
  await until('the days are read', async () => (days = await daily.days(range, nowMs))?.unread === 0, 60_000);
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

t.test('a page has the days that are read already, and a later one why the others cannot be', async (t) => {
  const { engine } = watched(await openSeeded(t, 'embedded', 20, 3));
  let [goOn, fails] = [(): void => undefined, false];
  const usage: AdmissionEngine['usage'] = {
    async *rows(from, to) {
      await new Promise<void>((resolve) => (goOn = resolve));
      if (fails) throw new StoreUnavailable('gone');
      yield* engine.usage.rows(from, to);
    },
  };
  const daily = new DailyUsage({ engine: { ...engine, usage } });
  const [first, , third] = seedDays(3) as [string, string, string];
  const range: ReportRange = { from: first, to: third, by: ['day'], openFrom: today };
  t.match(await daily.days(range, nowMs), { unread: 3, days: [], openAtMs: null }, 'at once, without any');
  goOn();
  const some = await daily.days(range, nowMs);
  t.match(some, { unread: 2, days: [{ day: third }] });
  t.ok(some!.readInMs > 0, 'says how long the others take');
  fails = true;
  goOn();
  await t.rejects(daily.days(range, nowMs), { message: 'gone' });
  fails = false;
  t.match(await daily.days(range, nowMs), { unread: 2 });
  goOn();
  t.match(await daily.days(range, nowMs), { unread: 0 });
  const open = { ...range, to: today };
  t.match(await daily.days(open, nowMs), { unread: 1, openAtMs: null }, 'today is being read too');
  goOn();
  const { openAtMs, unread } = (await daily.days(open, nowMs))!;
  t.equal(unread, 0);
  t.ok(Math.abs(Date.now() - openAtMs!) < 5_000, 'and says when it was');
});

t.test('final days survive a restart in files, as long as nothing may have changed them', async (t) => {
  const data = temporaryFolder(t);
  const { engine, read } = watched(await openSeeded(t, 'redis', 20, 3));
  const folder = join(data, 'usage-days');
  const days = seedDays(3) as [string, string, string];
  const range: ReportRange = { from: days[0], to: days[2], by: ['key', 'operation'], openFrom: today };
  const files = async (): Promise<readonly string[]> => readdir(folder).catch(() => []);
  const restarted = async (asked = range) => {
    const { length } = read;
    const known = await daysOf(new DailyUsage({ engine, files: new DayFiles(data) }), asked);
    const report = await reportOfDays(asked, known, engine, all);
    return { report, read: read.slice(length) };
  };
  const first = await restarted();
  await until('the files are written', async () => (await files()).length === 3);
  const again = await restarted();
  t.same(again.read, [], 'the ledger is not read');
  t.same(again.report, first.report);
  t.same(again.report.totals, (await exactReport(range, engine)).totals);

  const file = join(folder, days[1]);
  const bytes = await readFile(file);
  bytes[bytes.length - 9]! ^= 1;
  await writeFile(file, bytes);
  t.match((await restarted()).read, [`${days[1]} ${days[1]}`], 'a damaged one is read again');
  await rename(join(folder, days[0]), file);
  t.equal((await restarted()).read.length > 0, true, 'so are one of another day and a missing one');
  await until('the files are written', async () => (await files()).length === 3);

  const without = [{ gateway: 'g', host: 'h', from: days[2], to: today, seenMs: 1, finalAtMs: null }];
  t.same((await restarted({ ...range, without })).read, [`${days[2]} ${days[2]}`], 'counts of a gateway are missing');
  const later = [{ ...without[0]!, seenMs: 2 }];
  t.same((await restarted({ ...range, without: later })).read.length, 1, 'it was there meanwhile');

  const counts = { requests: 5_000, units: 5_000, returned: 0, limited: 0, banned: 0, failed: 0 };
  await engine.transfer.raise([{ key: seedIds(20)[3]!, day: days[0], plan: 'free', operation: 'late', ...counts }]);
  const raised = await restarted();
  t.equal(raised.report.totals.units, first.report.totals.units + 5_000, 'raised counts are there');

  const other = watched(await openSeeded(t, 'redis', 20, 3));
  const foreign = new DailyUsage({ engine: other.engine, files: new DayFiles(data) });
  t.equal(
    (await reportOfDays(range, await daysOf(foreign, range), engine, all)).totals.units,
    first.report.totals.units,
  );
  t.ok(other.read.length > 0, 'days of another Redis are not taken');

  await until('earlier days are removed', async () => {
    new DayFiles(data).keepFrom(days[2]);
    return (await files()).join() === days[2];
  });
});

t.test('days without counts are read several at once, and days that are too many for that one by one', async (t) => {
  const { engine, read } = watched(await openSeeded(t, 'embedded', 20, 12));
  const days = seedDays(12);
  // The three latest have no counts.
  const usage: AdmissionEngine['usage'] = {
    rows: (from, to) => (from >= days[9]! ? nothing(read, from, to) : engine.usage.rows(from, to)),
  };
  const perDay = 20 * 3;
  const daily = new DailyUsage({ engine: { ...engine, usage }, rowsAtOnce: 2 * perDay });
  const range: ReportRange = { from: days[0]!, to: days[11]!, by: ['day'], openFrom: today };
  const { days: known } = await daysOf(daily, range);
  t.same(
    known.map(({ rows }) => rows.keys.length),
    days.map((_, n) => (n < 9 ? perDay : 0)),
  );
  const [last, eight, ...single] = read;
  t.same([last, eight], [`${days[11]!} ${days[11]!}`, `${days[3]!} ${days[10]!}`]);
  t.same(single[0], `${days[10]!} ${days[10]!}`);
});

async function* nothing(read: string[], from: string, to: string) {
  await Promise.resolve();
  read.push(`${from} ${to}`);
  yield [];
}

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
