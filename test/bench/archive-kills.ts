import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { openLedgerStore } from '../../src/gateway/admission/engines/open.js';
import type { LedgerStore } from '../../src/gateway/admission/ledger-store.js';
import { openArchive } from '../../src/gateway/archive/open.js';
import type { ArchiveSettings } from '../../src/gateway/archive/open.js';
import type { Archive } from '../../src/gateway/archive/port.js';
import { ledgerRows } from '../../src/gateway/archive/rows.js';
import { NODE_FLAGS } from '../../src/gateway/archive/task.js';
import { startPostgres } from '../servers/postgres.js';
import { temporaryFolder } from '../servers/program.js';
import { startRedis } from '../servers/redis.js';
import { OPERATIONS, seedDays, seedEmbedded, seedRedis } from './seed-usage.js';

/**
 * A large ledger moves to the archive by a process that is killed with -9 again and again: after each kill a report
 * over store and archive must find every row once. Says so for each kill, with the peak of the mover's memory.
 *
 *     node dist/test/bench/archive-kills.js [embedded | redis] [keys] [days] [kills]
 *
 * The embedded store moves into files, Redis into PostgreSQL.
 */
const [engine = 'embedded', keys = '100000', days = '31', kills = '20'] = process.argv.slice(2);
const PROGRAM = fileURLToPath(new URL('../../src/gateway/archive/process.js', import.meta.url));
const ROWS = Number(keys) * Number(days) * OPERATIONS.length;
const FIRST_DAY_MS = 500;
const LOOK_MS = 50;

const cleanup: (() => unknown)[] = [];
const stage = { teardown: (handler: () => unknown) => void cleanup.push(handler) };
const say = (line: string): void => void process.stdout.write(`${line}\n`);

/** What a report over everything finds: the same rows give the same text, in whatever order. */
async function reportOf(store: LedgerStore, archive: Archive): Promise<string> {
  const names = seedDays(Number(days));
  let [rows, requests, mix] = [0, 0, 0];
  for await (const some of ledgerRows(store, archive, { from: names[0]!, to: names.at(-1)! })) {
    for (const row of some) {
      rows += 1;
      requests += row.requests;
      mix = (mix + hashOf(`${row.key} ${row.day} ${row.plan} ${row.operation} ${row.requests}`)) % 2 ** 48;
    }
  }
  return `${rows} rows, ${requests} requests, ${mix.toString(16)}`;
}

/** FNV-1a, 32 bits. */
function hashOf(text: string): number {
  let hash = 0x811c9dc5;
  for (let at = 0; at < text.length; at += 1) hash = Math.imul(hash ^ text.charCodeAt(at), 0x01000193);
  return hash >>> 0;
}

/** Moves until `isEnough`, asked now and then, and is killed; gives whether it was done before, and its peak of memory in MiB. */
async function move(
  settings: ArchiveSettings,
  isEnough: () => Promise<boolean>,
): Promise<{ done: boolean; peakMiB: number }> {
  const child = spawn(process.execPath, [...NODE_FLAGS, PROGRAM], { stdio: ['pipe', 'ignore', 'inherit'] });
  const ended = once(child, 'exit') as Promise<[code: number | null]>;
  child.stdin.end(JSON.stringify({ kind: 'move', settings }));
  let peakMiB = 0;
  while (child.exitCode === null && !(await isEnough())) {
    peakMiB = Math.max(peakMiB, peakOf(child.pid!));
    await pause(LOOK_MS);
  }
  child.kill('SIGKILL');
  const [code] = await ended;
  return { done: code === 0, peakMiB };
}

function peakOf(pid: number): number {
  try {
    return Number(/VmHWM:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1] ?? 0) / 1024;
  } catch {
    return 0;
  }
}

async function seeded(): Promise<ArchiveSettings> {
  const dataFolder = temporaryFolder(stage);
  const isRedis = engine === 'redis';
  const redis = isRedis ? await startRedis() : null;
  if (redis !== null) stage.teardown(() => redis.stop());
  const postgres = isRedis ? await startPostgres() : null;
  if (postgres !== null) stage.teardown(() => postgres.stop());
  if (redis === null) await seedEmbedded(join(dataFolder, 'admission'), Number(keys), Number(days));
  else await seedRedis(redis.url, Number(keys), Number(days));
  return {
    dataFolder,
    store: {
      redisUrl: redis?.url ?? null,
      deadlineMs: 5_000,
      usageDays: 400,
      archive: postgres === null ? 'files' : await postgres.createDatabase('ledger'),
      archiveAfterDays: 0,
      finalAfterMs: 0,
      mapBytes: 64 * 2 ** 30,
      onFailure: 'local',
      gateways: 'auto',
      replicas: { replicas: 'auto', waitMs: 1_000 },
    },
  };
}

async function killAgainAndAgain(settings: ArchiveSettings, store: LedgerStore, archive: Archive): Promise<void> {
  const before = await reportOf(store, archive);
  say(`before: ${before}`);
  const dayCount = async (): Promise<number> => (await archive.days()).size;
  let dayMs = FIRST_DAY_MS;
  let peakMiB = 0;
  for (let kill = 1; kill <= Number(kills); kill += 1) {
    // Somewhere in the day after the next one, or before it has done anything.
    const wanted = (await dayCount()) + (kill % 4 === 1 ? 0 : 1);
    const [beganMs, share] = [performance.now(), Math.random()];
    let reachedMs = Infinity;
    const moved = await move(settings, async () => {
      const nowMs = performance.now();
      if (reachedMs === Infinity && (await dayCount()) >= wanted)
        [reachedMs, dayMs] = [nowMs, (dayMs + nowMs - beganMs) / 2];
      return nowMs - reachedMs >= (share * dayMs) / 4;
    });
    peakMiB = Math.max(peakMiB, moved.peakMiB);
    const found = await reportOf(store, archive);
    say(`kill ${kill}${moved.done ? ' came too late' : ''}: ${await dayCount()} days archived, ${found}`);
    if (found !== before) throw new Error('a report finds something else than before');
  }
  peakMiB = Math.max(peakMiB, (await move(settings, () => Promise.resolve(false))).peakMiB);
  const after = await reportOf(store, archive);
  say(
    `after: ${after}, ${(await archive.days()).size} days archived; mover's peak of memory ${Math.round(peakMiB)} MiB`,
  );
  if (after !== before) throw new Error('a report finds something else than before');
}

try {
  const settings = await seeded();
  say(`${engine}: ${ROWS} rows`);
  const store = openLedgerStore(settings);
  const archive = await openArchive(settings);
  if (archive === null) throw new Error('no archive is set');
  stage.teardown(() => Promise.all([store.close(), archive.close()]));
  await killAgainAndAgain(settings, store, archive);
} finally {
  for (const handler of cleanup.reverse()) await handler();
}
