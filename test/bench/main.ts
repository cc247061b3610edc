import { mkdtempSync, rmSync } from 'node:fs';
import { cpus, tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { startRedis } from '../servers/redis.js';
import { cpuUs } from './cpu.js';
import { drive } from './drive.js';
import { median, resultOf, tableOf } from './report.js';
import { CONNECTIONS, startGateway, startScript } from './subjects.js';
import type { Subject } from './subjects.js';

/**
 * `npm run bench`: CPU µs per admitted request of the gateway, beside a bare proxy of Node and undici.
 * Same service behind, same machine, same run, in turns. CPU time and not wall time, because other
 * programs on the machine change the second far more than the first.
 */
const USE = 'npm run bench -- [--rounds 1..50] [--requests 100..100000] [--json]';

interface Options {
  readonly rounds: number;
  /** Per subject and round. */
  readonly requests: number;
  readonly json: boolean;
}

function readOptions(): Options {
  const { values } = parseArgs({ options: { rounds: { type: 'string', default: '7' }, requests: { type: 'string', default: '4000' }, json: { type: 'boolean', default: false } } });
  const rounds = wholeNumber('rounds', values.rounds, 1, 50);
  return { rounds, requests: wholeNumber('requests', values.requests, 100, 100_000), json: values.json };
}

function wholeNumber(name: string, text: string, least: number, most: number): number {
  const value = Number(text);
  if (!Number.isInteger(value) || value < least || value > most) throw new Error(`--${name} must be a whole number from ${least} to ${most}`);
  return value;
}

/** µs per request that a process used while `requests` went through it. */
async function measure(subject: Subject, requests: number): Promise<{ us: number; storeUs: number | null }> {
  const { pid, storePid } = subject;
  const before = cpuUs(pid);
  const storeBefore = storePid === undefined ? 0 : cpuUs(storePid);
  await drive({ ...subject, requests, connections: CONNECTIONS });
  return { us: (cpuUs(pid) - before) / requests, storeUs: storePid === undefined ? null : (cpuUs(storePid) - storeBefore) / requests };
}

async function bench({ rounds, requests, json }: Options, folder: string, stops: (() => unknown)[]): Promise<void> {
  const say = (line: string): void => {
    if (!json) process.stdout.write(`${line}\n`);
  };
  const redis = await startRedis();
  stops.push(() => redis.stop());
  const upstream = await startScript('upstream');
  const proxy = await startScript('proxy', `http://127.0.0.1:${upstream.port}`, String(CONNECTIONS));
  stops.push(() => upstream.child.kill(), () => proxy.child.kill());

  const subjects: Subject[] = [{ name: 'bare proxy', pid: proxy.child.pid!, port: proxy.port, keys: [null] }];
  for (const [name, accessLog, withRedis] of [
    ['embedded', true, false], ['embedded, no access log', false, false], ['redis', true, true], ['redis, no access log', false, true],
  ] as const) {
    const started = await startGateway({ name, folder: join(folder, name.replace(/\W+/g, '-')), upstreamPort: upstream.port, accessLog, ...(withRedis ? { redis } : {}) });
    stops.push(() => started.child.kill());
    subjects.push(started.subject);
  }

  say(`Node ${process.version}, ${cpus().length} × ${cpus()[0]?.model ?? 'unknown'}; ${rounds} rounds of ${requests} requests each, ${CONNECTIONS} connections`);
  // The compiler has work with the first few thousand requests.
  for (const subject of subjects) await measure(subject, Math.max(requests, 4000));
  const samples = subjects.map((): { us: number[]; storeUs: number[] } => ({ us: [], storeUs: [] }));
  for (let round = 1; round <= rounds; round += 1) {
    for (const [index, subject] of subjects.entries()) {
      const { us, storeUs } = await measure(subject, requests);
      samples[index]!.us.push(us);
      if (storeUs !== null) samples[index]!.storeUs.push(storeUs);
    }
    say(`round ${round}: ${samples.map(({ us }) => us.at(-1)!.toFixed(1)).join('  ')}`);
  }
  const bareUs = median(samples[0]!.us);
  const results = subjects.map(({ name }, index) => resultOf(name, samples[index]!.us, bareUs, samples[index]!.storeUs));
  say(`\n${tableOf(results)}`);
  if (json) process.stdout.write(`${JSON.stringify({ node: process.version, rounds, requests, connections: CONNECTIONS, results })}\n`);
}

const folder = mkdtempSync(join(tmpdir(), 'petgate-bench-'));
const stops: (() => unknown)[] = [];
try {
  await bench(readOptions(), folder, stops);
} catch (error) {
  process.stderr.write(`${error instanceof Error ? error.message : String(error)}\n${USE}\n`);
  process.exitCode = 1;
} finally {
  await Promise.all(stops.map((stop) => stop()));
  rmSync(folder, { recursive: true, force: true, maxRetries: 20 });
}
