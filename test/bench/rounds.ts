import { cpuUs, forgetPeakMemory, peakMemoryMiB } from './cpu.js';
import { quantile, type Sample } from './figures.js';
import { drive } from './load/drive.js';
import { h2load } from './load/h2load.js';
import { wrk } from './load/wrk.js';
import { nameOf, type Case, type Scenario } from './scenarios.js';
import type { Fleet } from './subjects/fleet.js';
import type { Keys } from './subjects/keys.js';
import { usesRedis } from './subjects/subject.js';
import type { Aim } from './traffic.js';
import { longestTurnMs } from './turns.js';

interface RoundOptions {
  readonly rounds: number;
  /** Of each case in each round. */
  readonly seconds: number;
  /** For what the load generators read. */
  readonly folder: string;
  /** `node`: a load generator that needs nothing installed, and takes more of the machine. */
  readonly load: 'wrk' | 'node';
  readonly say: (line: string) => void;
}

interface Outcome {
  /** The samples of each case, in the order of the rounds. */
  readonly samples: ReadonlyMap<string, readonly Sample[]>;
  /** Requests per second, where they came at a constant rate. */
  readonly rate: number | undefined;
  /** The longest turn of the event loop, ms of CPU time, of Petgate's cases. */
  readonly longestTurnsMs: Readonly<Record<string, number>>;
}

/** Compilers have work with the first so many requests. */
const WARM_UP_REQUESTS = 15_000;
const WARM_UP_RUNS = 3;
/**
 * On a machine that is busy with something else what a process does by itself would weigh on few requests: it goes on.
 */
const LEAST_REQUESTS = 1_000;
const MAX_RUNS = 5;

/** Measures every case once per round, one after the other, in an order that is new each round. */
export async function runRounds(scenario: Scenario, fleet: Fleet, keys: Keys, options: RoundOptions): Promise<Outcome> {
  const started = scenario.cases.filter(({ subject }) => fleet.subjects.has(subject));
  for (const { traffic } of started) await fleet.register(keys.of(traffic.keys, traffic.keyCount), traffic.keys);
  const cases: Case[] = [];
  for (const one of started) {
    try {
      if (options.rounds > 1) await warmUp(one, scenario, fleet, keys, options);
      cases.push(one);
    } catch (error) {
      fleet.leftOut.push({ name: nameOf(one), why: error instanceof Error ? error.message : String(error) });
    }
  }
  const rate =
    scenario.halfThePeakOf === undefined ? undefined : await halfThePeak(scenario, cases, fleet, keys, options);
  const samples = new Map<string, Sample[]>(cases.map((one) => [nameOf(one), []]));
  for (let round = 1; round <= options.rounds; round += 1) {
    for (const one of shuffled(cases))
      samples.get(nameOf(one))!.push(await measure(one, scenario, fleet, keys, options, rate));
    const shown = cases.map((one) => `${nameOf(one)} ${samples.get(nameOf(one))!.at(-1)!.gatewayUs.toFixed(1)}`);
    options.say(`  ${scenario.name} ${round}/${options.rounds}: ${shown.join('  ')}`);
  }
  return { samples, rate, longestTurnsMs: await longestTurns(scenario, cases, fleet, keys, { ...options, rate }) };
}

/** In a round more, since watching costs a little. */
async function longestTurns(
  scenario: Scenario,
  cases: readonly Case[],
  fleet: Fleet,
  keys: Keys,
  { rate, ...options }: RoundOptions & { readonly rate: number | undefined },
): Promise<Readonly<Record<string, number>>> {
  const longestMs: Record<string, number> = {};
  for (const one of cases) {
    const started = fleet.subjects.get(one.subject)!;
    if (!('register' in started)) continue;
    await longestTurnMs(started.child);
    await measure(one, scenario, fleet, keys, options, rate);
    longestMs[nameOf(one)] = await longestTurnMs(started.child);
  }
  return longestMs;
}

async function warmUp(one: Case, scenario: Scenario, fleet: Fleet, keys: Keys, options: RoundOptions): Promise<void> {
  for (let run = 0, requests = 0; run < WARM_UP_RUNS && requests < WARM_UP_REQUESTS; run += 1) {
    requests += (await measure(one, scenario, fleet, keys, { ...options, seconds: 1 })).requests;
  }
}

/** Median of three, since one look at a busy machine may be off. */
async function halfThePeak(
  scenario: Scenario,
  cases: readonly Case[],
  fleet: Fleet,
  keys: Keys,
  options: RoundOptions,
): Promise<number> {
  const peaked = cases.find(({ subject }) => subject === scenario.halfThePeakOf);
  if (peaked === undefined)
    throw new Error(`${scenario.name} can't be measured without ${scenario.halfThePeakOf ?? ''}`);
  const peaks: number[] = [];
  for (let look = 0; look < 3; look += 1)
    peaks.push((await measure(peaked, scenario, fleet, keys, options)).requests / options.seconds);
  return Math.round(quantile(peaks, 0.5) / 2);
}

async function measure(
  one: Case,
  scenario: Scenario,
  fleet: Fleet,
  keys: Keys,
  options: RoundOptions,
  rate?: number,
): Promise<Sample> {
  try {
    return await sampleOf(one, scenario, fleet, keys, options, rate);
  } catch (error) {
    throw new Error(`${nameOf(one)}: ${error instanceof Error ? error.message : String(error)}`, { cause: error });
  }
}

async function sampleOf(
  { subject, traffic }: Case,
  { tls = false }: Scenario,
  fleet: Fleet,
  keys: Keys,
  { seconds, folder, load }: RoundOptions,
  rate?: number,
): Promise<Sample> {
  const { child, port } = fleet.subjects.get(subject)!;
  const pid = child.pid!;
  const aim: Aim = { port, tls, traffic, tokens: keys.of(traffic.keys, traffic.keyCount).map(({ token }) => token) };
  const send = (): Promise<number> => (traffic.protocol === 'h2' ? h2load(aim, seconds) : wrk(aim, seconds, folder));
  // It was idle while others were measured: what a process does then, and the caches it lost, would be counted.
  if (rate === undefined && load === 'wrk') await send();
  forgetPeakMemory(pid);
  const [gatewayBefore, storeBefore] = [cpuUs(pid), cpuUs(fleet.redis.pid)];
  const latenciesMs: number[] = [];
  let requests = 0;
  for (let run = 0; run < MAX_RUNS && requests < LEAST_REQUESTS; run += 1) {
    if (rate === undefined && load === 'wrk') requests += await send();
    else latenciesMs.push(...(await drive(aim, seconds, rate)).latenciesMs);
    requests = Math.max(requests, latenciesMs.length);
  }
  if (requests === 0) throw new Error('not one answer came in time');
  return {
    requests,
    gatewayUs: (cpuUs(pid) - gatewayBefore) / requests,
    storeUs: usesRedis(subject) ? (cpuUs(fleet.redis.pid) - storeBefore) / requests : 0,
    rssMiB: peakMemoryMiB(pid),
    ...(rate === undefined
      ? {}
      : {
          latencyMs: {
            p50: quantile(latenciesMs, 0.5),
            p99: quantile(latenciesMs, 0.99),
            p999: quantile(latenciesMs, 0.999),
          },
        }),
  };
}

function shuffled<Item>(items: readonly Item[]): readonly Item[] {
  return items
    .map((item) => ({ item, place: Math.random() }))
    .sort((a, b) => a.place - b.place)
    .map(({ item }) => item);
}
