import { execFileSync, spawn } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { constants, setPriority } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { setTimeout as pause } from 'node:timers/promises';
import { Pool } from 'undici';
import { ADMIN_TOKEN, startGateway, type Gateway } from '../servers/gateway.js';
import { childrenOf, temporaryFolder } from '../servers/program.js';
import { startRedis } from '../servers/redis.js';
import { until } from '../servers/until.js';
import { startUpstream } from '../servers/upstream.js';
import { OPERATIONS, seedDays, seedEmbedded, seedRedis } from './seed-usage.js';

/**
 * What a report over a large ledger costs: rows per second, memory, first byte, and p99 of the requests
 * served meanwhile.
 *
 * node dist/test/bench/usage-report.js <embedded | redis> [keys] [days] [rounds] [what the report of the rounds is
 * grouped by] [shared | apart] [idle keys, Redis]
 *
 * `apart` gives gateway, store, service and clients one processor, and the report with its reader another: on
 * a machine of two, `shared` measures above all how the load itself gets by with one when the report has the other.
 */
const [
  engine = 'embedded',
  keys = '100000',
  days = '31',
  rounds = '5',
  byInRounds = 'key,day',
  processors = 'shared',
  idle = '0',
] = process.argv.slice(2);
const REQUESTS_PER_SECOND = 300;
const ROUND_MS = 4_000;

const storePids: number[] = [];
const cleanup: (() => unknown)[] = [];
const stage = { teardown: (handler: () => unknown) => void cleanup.push(handler) };
const say = (line: string): void => void process.stdout.write(`${line}\n`);

interface Reading {
  readonly bytes: number;
  readonly firstByteMs: number;
  readonly totalMs: number;
  readonly cut: boolean;
}

/**
 * Reads a report to its end, or until told to stop, in a process of its own that gives way to the others:
 * who reads a real one sits on another machine.
 */
async function read(gateway: Gateway, query: string, stop?: AbortSignal): Promise<Reading> {
  const child = spawn(process.execPath, ['--input-type=module', '--eval', READER], {
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  if (child.pid !== undefined) {
    setPriority(child.pid, constants.priority.PRIORITY_LOW);
    pin(child.pid, 1);
  }
  child.stdin.end(JSON.stringify({ url: `${gateway.adminUrl}/admin/v1/usage?${query}`, token: ADMIN_TOKEN }));
  const end = (): void => void child.kill();
  stop?.addEventListener('abort', end);
  const told = await text(child.stdout);
  stop?.removeEventListener('abort', end);
  return told === ''
    ? { bytes: 0, firstByteMs: 0, totalMs: 0, cut: true }
    : { ...(JSON.parse(told) as Omit<Reading, 'cut'>), cut: false };
}

/** The reader: is told on its standard input what to read, and tells what it saw. */
const READER = `
  import { get } from 'node:http';
  import { json } from 'node:stream/consumers';
  const { url, token } = await json(process.stdin);
  const startedMs = performance.now();
  let bytes = 0;
  let firstByteMs = 0;
  get(url, { headers: { authorization: 'Bearer ' + token } }, (response) => {
    response.on('data', (chunk) => {
      if (bytes === 0) firstByteMs = performance.now() - startedMs;
      bytes += chunk.length;
    });
    response.on('end', () => {
      console.log(JSON.stringify({ bytes, firstByteMs, totalMs: performance.now() - startedMs }));
    });
  });
`;

/** Keeps a process and all its threads, those to come included, on one processor. */
function pin(pid: number, processor: 0 | 1): void {
  if (processors === 'apart')
    execFileSync('taskset', ['--all-tasks', '--cpu-list', '--pid', String(processor), String(pid)], {
      stdio: 'ignore',
    });
}

/** The process that makes the report, as soon as it is there. */
async function pinReport({ program: { pid } }: Gateway): Promise<void> {
  await until('the report began', () => childrenOf(pid).length > 0);
  pin(childrenOf(pid)[0]!, 1);
}

/** Resident memory (VmRSS) of the gateway's process and of the one that makes the report, MiB. */
function memoryOf({ program: { pid } }: Gateway): { readonly gateway: number; readonly report: number } {
  const [report] = childrenOf(pid);
  return { gateway: residentMiB(pid), report: report === undefined ? 0 : residentMiB(report) };
}

function residentMiB(pid: number): number {
  try {
    return Math.round(Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1] ?? 0) / 1024);
  } catch {
    // It ended in this moment.
    return 0;
  }
}

/** Sends requests at a steady pace and gives the times they took, ms. */
async function serve(pool: Pool, key: string): Promise<readonly number[]> {
  const took: number[] = [];
  const startedMs = performance.now();
  const running: Promise<void>[] = [];
  const one = async (): Promise<void> => {
    const sentMs = performance.now();
    const { body } = await pool.request({
      method: 'GET',
      path: '/v1/pets',
      headers: { authorization: `Bearer ${key}` },
    });
    await body.dump();
    took.push(performance.now() - sentMs);
  };
  for (let n = 0; performance.now() - startedMs < ROUND_MS; n += 1) {
    running.push(one());
    const waitMs = startedMs + ((n + 1) * 1000) / REQUESTS_PER_SECOND - performance.now();
    if (waitMs > 0) await pause(waitMs);
  }
  await Promise.all(running);
  return took;
}

function quantile(values: readonly number[], part: number): number {
  const sorted = [...values].sort((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * part))] ?? 0;
}

const ms = (value: number): string => value.toFixed(2);

async function main(): Promise<void> {
  const environment: Record<string, string> = { LOG_LEVEL: 'info' };
  const dataFolder = process.env['PETGATE_BENCH_DATA'] ?? temporaryFolder(stage);
  const ready = process.env['PETGATE_BENCH_DATA'] !== undefined;
  if (engine === 'redis') {
    const redis = await startRedis();
    stage.teardown(() => redis.stop());
    storePids.push(redis.pid);
    environment['REDIS_URL'] = redis.url;
    await seedRedis(redis.url, Number(keys), Number(days), Number(idle));
  } else if (!ready) {
    await seedEmbedded(join(dataFolder, 'admission'), Number(keys), Number(days));
  }
  const upstream = await startUpstream(stage);
  upstream.handle = (_seen, response) => {
    upstream.seen.length = 0;
    response.writeHead(200, { 'content-type': 'application/json' }).end('[]');
  };
  const gateway = await startGateway(stage, {
    dataFolder,
    environment: { ...environment, PETS_URL: upstream.url },
    config: { store: { deadline: '1s', map_size: '64GiB' }, log: { access: false } },
  });
  await until('the store is there', async () => (await gateway.admin('GET', '/readyz')).status === 200, 30_000);
  const range = seedDays(Number(days));
  const query = `from=${range[0]!}&to=${range.at(-1)!}`;
  const rows = Number(keys) * Number(days) * OPERATIONS.length;
  say(`${engine}: ${keys} keys, ${days} days, ${rows} rows`);

  for (const by of ['plan', 'key', 'key,day']) {
    const most = { gateway: 0, report: 0 };
    const watch = setInterval(() => {
      const memory = memoryOf(gateway);
      most.gateway = Math.max(most.gateway, memory.gateway);
      most.report = Math.max(most.report, memory.report);
    }, 20);
    const { bytes, firstByteMs, totalMs } = await read(gateway, `${query}&by=${by}&format=csv`);
    clearInterval(watch);
    say(
      `  by=${by}: ${Math.round(rows / (totalMs / 1000))} rows/s, ${(totalMs / 1000).toFixed(1)} s, first ` +
        `byte ${ms(firstByteMs)} ms, ${(bytes / 2 ** 20).toFixed(1)} MiB sent; most memory: gateway ` +
        `${most.gateway} MiB, the report's process ${most.report} MiB`,
    );
  }

  for (const pid of [process.pid, gateway.program.pid, ...storePids]) pin(pid, 0);
  const { key } = await gateway.createKey({ plan: 'enterprise', limits: { minute: 'unlimited', day: 'unlimited' } });
  const pool = new Pool(gateway.url, { connections: 32 });
  await serve(pool, key);
  const without: number[][] = [];
  const withReport: number[][] = [];
  for (let round = 0; round < Number(rounds); round += 1) {
    without.push([...(await serve(pool, key))]);
    const stop = new AbortController();
    const reading = read(gateway, `${query}&by=${byInRounds}&format=csv`, stop.signal);
    await pinReport(gateway);
    withReport.push([...(await serve(pool, key))]);
    stop.abort();
    const { cut } = await reading;
    say(
      `  round ${round + 1}: p50 ${ms(quantile(without.at(-1)!, 0.5))} → ` +
        `${ms(quantile(withReport.at(-1)!, 0.5))} ms, p99 ${ms(quantile(without.at(-1)!, 0.99))} → ` +
        `${ms(quantile(withReport.at(-1)!, 0.99))} ms${cut ? '' : ' (the report ended before the round)'}`,
    );
  }
  const p99 = (all: readonly (readonly number[])[]): number =>
    quantile(
      all.map((one) => quantile(one, 0.99)),
      0.5,
    );
  say(
    `  median p99 at ${REQUESTS_PER_SECOND} requests/s: ${ms(p99(without))} ms without, ` +
      `${ms(p99(withReport))} ms with a report by ${byInRounds} running`,
  );
  await pool.close();
}

try {
  await main();
} finally {
  for (const handler of cleanup.reverse()) await handler();
}
