import { randomBytes } from 'node:crypto';
import { cpus } from 'node:os';
import { resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import { parseArgs } from 'node:util';
import { Redis } from 'ioredis';
import type * as EngineModule from '../../src/gateway/store/redis/engine.js';
import type { RedisEngine } from '../../src/gateway/store/redis/engine.js';
import type { AdmissionRequest } from '../../src/gateway/admission/port.js';
import type { Verdict } from '../../src/gateway/admission/verdict.js';
import { newKey, PLANS } from '../conformance/cast.js';
import { startRedis, type RedisServer } from '../servers/redis.js';
import { until } from '../servers/until.js';
import { cpuUs } from './cpu.js';
import { quantile } from './figures.js';

/**
 * What an admission costs Redis and the gateway, by the size of the batch: CPU µs per request of redis-server, and of
 * this process for writing the call, sending it and reading the answer. No HTTP. One batch at a time, every request of
 * another key, as gateways under even load send them.
 *
 * node dist/test/bench/script.js [--rounds 7] [--keys 1000] [--requests 8000] [--json] [--against <another build's dist
 * folder>]
 *
 * `--against` measures another build in turns with this one, each with a redis-server of its own, and prints the ratio;
 * `ping` is a command that does nothing: what a round trip costs at least; `one key`: all requests are of one;
 * `Cluster`: one node with all slots, where each key is a run of its own.
 */
const USE =
  'node dist/test/bench/script.js [--rounds 1..99] [--keys 64..100000] [--requests 64..1000000] [--json] ' +
  '[--against <dist>]';
const SIZES = [1, 4, 16, 64];
const OPERATIONS = ['listPets', 'getPet', 'createPet'];

interface Options {
  readonly rounds: number;
  readonly keys: number;
  /** Per size and round. */
  readonly requests: number;
  readonly json: boolean;
  readonly against: string | undefined;
}

function readOptions(): Options {
  const text = { type: 'string' } as const;
  const { values } = parseArgs({
    options: {
      rounds: { ...text, default: '7' },
      keys: { ...text, default: '1000' },
      requests: { ...text, default: '8000' },
      against: text,
      json: { type: 'boolean', default: false },
    },
  });
  const whole = (name: 'rounds' | 'keys' | 'requests', least: number, most: number): number => {
    const value = Number(values[name]);
    if (!Number.isInteger(value) || value < least || value > most)
      throw new Error(`--${name} must be a whole number from ${least} to ${most}`);
    return value;
  };
  return {
    rounds: whole('rounds', 1, 99),
    keys: whole('keys', 64, 100_000),
    requests: whole('requests', 64, 1_000_000),
    json: values.json,
    against: values.against,
  };
}

/** What ends all that was begun: clients first. */
const stops: (() => unknown)[] = [];

/** µs per request, of Redis and of this process. */
interface Cost {
  readonly redisUs: number;
  readonly gatewayUs: number;
}

interface Subject {
  readonly name: string;
  readonly server: RedisServer;
  /** Sends `count` requests in batches of `size`. */
  run(size: number, count: number): Promise<void>;
}

/** Another engine to measure: of which build, on which Redis, about how many keys. */
interface Setting {
  readonly name: string;
  readonly dist: string;
  readonly keys: number;
  readonly cluster?: boolean;
}

async function engineSubject({ name, dist, keys, cluster = false }: Setting): Promise<Subject> {
  const { openRedisEngine } = (await import(
    pathToFileURL(resolve(dist, 'src/gateway/store/redis/engine.js')).href
  )) as typeof EngineModule;
  // A node alone does not know its own address.
  const server = await startRedis({ cluster, config: cluster ? ['cluster-announce-ip 127.0.0.1'] : [] });
  stops.push(() => server.stop());
  if (cluster) await server.command('CLUSTER', 'ADDSLOTSRANGE', 0, 16_383);
  const engine: RedisEngine = openRedisEngine({
    url: cluster ? server.url.replace('redis:', 'redis+cluster:') : server.url,
    deadlineMs: 5_000,
    plans: PLANS,
    usageDays: 400,
  });
  stops.unshift(() => engine.close());
  await until('it decides', async () => (await engine.check(), true));
  const requests = await requestsOf(engine, keys);
  let at = 0;
  return {
    name,
    server,
    async run(size, count) {
      for (let sent = 0; sent < count; sent += size) {
        const batch = Array.from({ length: size }, () => requests[at++ % requests.length]!);
        refuseAllBut(await engine.admit(batch));
      }
    },
  };
}

/** One request of each key: plans and operations mixed, some with a scope, all to be admitted. */
async function requestsOf(engine: RedisEngine, keys: number): Promise<readonly AdmissionRequest[]> {
  const requests: AdmissionRequest[] = [];
  for (let n = 0; n < keys; n += 1) {
    const isCustom = n % 4 === 0;
    const { subject } = await newKey(engine, isCustom ? 'enterprise' : 'open', {
      id: randomBytes(8).toString('hex'),
      name: 'Acme, production',
      limits: isCustom ? { minute: 10_000_000, day: 100_000_000 } : null,
      scopes: n % 2 === 0 ? ['pets:read', 'pets:write'] : null,
    });
    requests.push({
      subject,
      operation: OPERATIONS[n % OPERATIONS.length]!,
      scope: n % 3 === 0 ? null : 'pets:read',
      cost: 1,
    });
  }
  return requests;
}

function refuseAllBut(verdicts: readonly Verdict[]): void {
  for (const { outcome } of verdicts)
    if (outcome !== 'admitted') throw new Error(`a request was not admitted: ${outcome}`);
}

/** A command that does nothing: `size` of them are sent together, and each counts as one. */
async function pingSubject(): Promise<Subject> {
  const server = await startRedis();
  const client = new Redis(server.port, '127.0.0.1');
  stops.push(() => server.stop());
  stops.unshift(() => client.disconnect());
  return {
    name: 'ping',
    server,
    async run(size, count) {
      for (let sent = 0; sent < count; sent += size)
        await Promise.all(Array.from({ length: size }, () => client.ping()));
    },
  };
}

async function measure(subject: Subject, size: number, requests: number): Promise<Cost> {
  const count = Math.ceil(requests / size) * size;
  const { pid } = subject.server;
  const [redis, own] = [cpuUs(pid), process.cpuUsage()];
  await subject.run(size, count);
  const { user, system } = process.cpuUsage(own);
  return { redisUs: (cpuUs(pid) - redis) / count, gatewayUs: (user + system) / count };
}

const median = (values: readonly number[]): number => quantile(values, 0.5);

interface Result {
  readonly name: string;
  readonly size: number;
  readonly redisUs: number;
  readonly gatewayUs: number;
  /** Beside the other build, medians of the ratios within a round; null for that one itself. */
  readonly redisRatio: number | null;
  readonly gatewayRatio: number | null;
}

function resultsOf(
  subjects: readonly Subject[],
  samples: ReadonlyMap<string, Cost[]>,
  other: string | undefined,
): readonly Result[] {
  return SIZES.flatMap((size) =>
    subjects.map(({ name }): Result => {
      const [costs, others] = [samples.get(`${name} ${size}`) ?? [], samples.get(`${other} ${size}`) ?? []];
      const ratio = (of: (cost: Cost) => number): number | null =>
        others.length === 0 || name === other
          ? null
          : median(costs.map((cost, round) => of(cost) / of(others[round]!)));
      return {
        name,
        size,
        redisUs: median(costs.map(({ redisUs }) => redisUs)),
        gatewayUs: median(costs.map(({ gatewayUs }) => gatewayUs)),
        redisRatio: ratio(({ redisUs }) => redisUs),
        gatewayRatio: ratio(({ gatewayUs }) => gatewayUs),
      };
    }),
  );
}

function tableOf(results: readonly Result[]): string {
  const lines = results.map(({ name, size, redisUs, gatewayUs, redisRatio, gatewayRatio }) =>
    [
      size.toString().padStart(5),
      name.padEnd(8),
      redisUs.toFixed(1).padStart(9),
      (redisRatio?.toFixed(2) ?? '').padStart(6),
      gatewayUs.toFixed(1).padStart(11),
      (gatewayRatio?.toFixed(2) ?? '').padStart(6),
    ].join(' '),
  );
  return [`batch          Redis, µs  ratio gateway, µs  ratio`, ...lines].join('\n');
}

async function bench(options: Options, subjects: readonly Subject[], other: string | undefined): Promise<void> {
  const { rounds, requests, json } = options;
  const samples = new Map<string, Cost[]>();
  for (const subject of subjects) for (const size of SIZES) await measure(subject, size, Math.min(requests, 4_000));
  for (let round = 0; round < rounds; round += 1) {
    for (const size of SIZES) {
      // Every other round the other way round, so that none is always the first.
      for (const subject of round % 2 === 0 ? subjects : subjects.toReversed()) {
        const name = `${subject.name} ${size}`;
        samples.set(name, [...(samples.get(name) ?? []), await measure(subject, size, requests)]);
      }
    }
  }
  const results = resultsOf(subjects, samples, other);
  const [cpu] = cpus();
  process.stdout.write(
    json
      ? `${JSON.stringify({ node: process.version, rounds, requests, results })}\n`
      : `Node ${process.version}, ${cpu?.model ?? 'unknown'}, ${rounds} rounds of ${requests} ` +
          `requests\n${tableOf(results)}\n`,
  );
}

try {
  const subjects: Subject[] = [];
  const options = readOptions();
  subjects.push(await pingSubject());
  const { against, keys } = options;
  const dist = resolve(import.meta.dirname, '../..');
  if (against !== undefined) subjects.push(await engineSubject({ name: 'other', dist: against, keys }));
  subjects.push(await engineSubject({ name: 'this', dist, keys }));
  subjects.push(await engineSubject({ name: 'one key', dist, keys: 1 }));
  subjects.push(await engineSubject({ name: 'Cluster', dist, keys, cluster: true }));
  await bench(options, subjects, options.against === undefined ? undefined : 'other');
} catch (error) {
  process.stderr.write(`${error instanceof Error ? error.message : String(error)}\n${USE}\n`);
  process.exitCode = 1;
} finally {
  for (const stop of stops) await stop();
}
