import { setTimeout as pause } from 'node:timers/promises';
import type { LedgerStore } from '../../src/gateway/store/ledger.js';
import type { UsageRow } from '../../src/gateway/store/records/counts.js';
import { openPostgresArchive, type Archive } from '../../src/gateway/usage/archive/archive.js';
import { ledgerRows } from '../../src/gateway/usage/archive/ledger.js';
import { startPostgres } from '../servers/postgres.js';
import { startRedis } from '../servers/redis.js';
import { OPERATIONS, seedDays, seedIds, seedRedis } from './seed-usage.js';

/**
 * What the archive costs: writing and reading back a day, a report over all of it, its first row and its memory; and
 * what a key and day take of Redis.
 *
 *     node dist/test/bench/archive.js [keys] [days]
 */
const [keys = '100000', days = '31'] = process.argv.slice(2);
const cleanup: (() => unknown)[] = [];
const stage = { teardown: (handler: () => unknown) => void cleanup.push(handler) };
const say = (line: string): void => void process.stdout.write(`${line}\n`);
const ids = seedIds(Number(keys));

/** Nothing is left in the store. */
const emptyOf = ({ id }: Archive): Pick<LedgerStore, 'rows' | 'archive'> => ({
  archive: () => Promise.resolve({ id, days: new Map() }),
  rows: async function* () {
    await Promise.resolve();
    yield* [];
  },
});

async function* rowsOf(day: string): AsyncGenerator<readonly UsageRow[]> {
  for (let at = 0; at < ids.length; at += 100)
    yield await Promise.resolve(
      ids.slice(at, at + 100).flatMap((key, n) =>
        [...OPERATIONS].sort().map((operation) => ({
          ...{ key, plan: 'free', operation, day, requests: at + n + 1, units: at + n + 1 },
          ...{ returned: 0, limited: 0, banned: 0, failed: 0 },
        })),
      ),
    );
}

async function measure(archive: Archive): Promise<void> {
  const names = seedDays(Number(days));
  const rows = ids.length * names.length * OPERATIONS.length;
  let beganMs = performance.now();
  for (const day of names) {
    await archive.put(day, rowsOf(day));
    await archive.verify(day);
  }
  const wroteMs = performance.now() - beganMs;
  beganMs = performance.now();
  let [firstMs, found, most] = [0, 0, 0];
  for await (const some of ledgerRows(emptyOf(archive) as LedgerStore, () => Promise.resolve(archive), {
    from: names[0]!,
    to: names.at(-1)!,
  })) {
    if (found === 0) firstMs = performance.now() - beganMs;
    found += some.length;
    most = Math.max(most, process.memoryUsage.rss());
  }
  const readMs = performance.now() - beganMs;
  if (found !== rows) throw new Error(`${found} rows of ${rows}`);
  const rate = (ms: number): string => Math.round(rows / (ms / 1000)).toLocaleString('en');
  say(
    `${rows} rows; written and read back ${rate(wroteMs)} rows/s; report ${rate(readMs)} rows/s, first rows ` +
      `after ${Math.round(firstMs)} ms, most memory ${Math.round(most / 2 ** 20)} MiB`,
  );
}

async function memory(): Promise<void> {
  const redis = await startRedis();
  stage.teardown(() => redis.stop());
  const used = async (): Promise<number> =>
    Number(/used_memory:(\d+)/.exec(String(await redis.command('INFO', 'memory')))?.[1]);
  await seedRedis(redis.url, 10_000, 0);
  const before = await used();
  await redis.command('FLUSHALL');
  await pause(100);
  await seedRedis(redis.url, 10_000, 31);
  say(
    `Redis: ${Math.round(((await used()) - before) / 310_000)} bytes a key and day, of ${OPERATIONS.length} operations`,
  );
}

try {
  await memory();
  const postgres = await startPostgres();
  stage.teardown(() => postgres.stop());
  const archive = await openPostgresArchive(await postgres.createDatabase('bench'));
  await measure(archive);
  await archive.close();
} finally {
  for (const handler of cleanup.reverse()) await handler();
}
