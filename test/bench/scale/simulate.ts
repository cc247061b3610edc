import type { Costs } from './costs.js';
import { Keys, randomOf } from './traffic.js';

export interface Setting {
  /** 1 is a single Redis, where all requests of a turn are one run; in a Cluster each key is a run of its own. */
  readonly masters: number;
  /** Gateway processes, each with one event loop. */
  readonly gateways: number;
  readonly keys: number;
  readonly skew: number;
  readonly seed: number;
  readonly requests: number;
  readonly costs: Costs;
}

export interface Outcome {
  readonly perSecond: number;
  /** Part of the time that the busiest one works. */
  readonly gatewayBusy: number;
  readonly redisBusy: number;
  /** Part of the time that masters work, on average. */
  readonly redisMeanBusy: number;
  /** Requests a gateway decides together, on average. */
  readonly batch: number;
  /** From the arrival of a request until Redis has decided, ms. */
  readonly p50Ms: number;
  readonly p99Ms: number;
  readonly hottestShare: number;
  /** The hottest key's part of the requests of its master. */
  readonly hottestOfMaster: number;
  /** Whether the busiest master is the one of the hottest key. */
  readonly hottestIsBusiest: boolean;
}

/** The most that is decided together (batch.ts). */
const MAX_BATCH = 256;

interface Request {
  readonly atUs: number;
  readonly key: number;
}
/** What a gateway sends one master in one turn. */
interface Sent {
  readonly atUs: number;
  readonly master: number;
  readonly workUs: number;
  readonly arrivedUs: readonly number[];
}

/**
 * Requests arrive at random, `perSecond` of them, at any gateway alike. A gateway takes up what has arrived while it
 * worked on those before, asks Redis about all of it, and each master works off what it is sent in order.
 */
export function simulate(setting: Setting, perSecond: number, keys = keysOf(setting)): Outcome {
  const { masters, gateways, requests, seed, costs } = setting;
  const random = randomOf(seed + 1);
  const arriving = Array.from({ length: gateways }, (): Request[] => []);
  const perMaster = new Array<number>(masters).fill(0);
  let nowUs = 0;
  let hottest = 0;
  for (let n = 0; n < requests; n += 1) {
    nowUs -= (Math.log(1 - random()) * 1_000_000) / perSecond;
    const key = keys.draw(random);
    if (key === 0) hottest += 1;
    perMaster[keys.masterOf(key, masters)]! += 1;
    arriving[Math.floor(random() * gateways)]!.push({ atUs: nowUs, key });
  }
  const turns = arriving.map((queue) => turnsOf(queue, keys, masters, costs));
  const served = serve(
    turns.flatMap(({ sent }) => sent),
    masters,
  );
  const endUs = Math.max(nowUs, ...turns.map(({ endUs }) => endUs), ...served.endUs);
  const redisBusy = served.busyUs.map((us) => us / endUs);
  const owner = keys.masterOf(0, masters);
  return {
    perSecond,
    gatewayBusy: Math.max(...turns.map(({ busyUs }) => busyUs / endUs)),
    redisBusy: Math.max(...redisBusy),
    redisMeanBusy: redisBusy.reduce((sum, busy) => sum + busy, 0) / masters,
    batch: requests / turns.reduce((sum, { count }) => sum + count, 0),
    p50Ms: at(served.tookUs, 0.5) / 1_000,
    p99Ms: at(served.tookUs, 0.99) / 1_000,
    hottestShare: keys.hottestShare,
    hottestOfMaster: hottest / Math.max(perMaster[owner]!, 1),
    hottestIsBusiest: redisBusy.indexOf(Math.max(...redisBusy)) === owner,
  };
}

/** The keys of a setting: most of the work, and the same at every rate. */
function keysOf({ keys, skew, seed }: Setting): Keys {
  return new Keys(keys, skew, randomOf(seed));
}

interface Turns {
  readonly sent: readonly Sent[];
  readonly count: number;
  readonly busyUs: number;
  readonly endUs: number;
}

function turnsOf(queue: readonly Request[], keys: Keys, masters: number, costs: Costs): Turns {
  const sent: Sent[] = [];
  let [count, busyUs, freeUs] = [0, 0, 0];
  for (let next = 0; next < queue.length;) {
    const beginUs = Math.max(freeUs, queue[next]!.atUs);
    const first = next;
    while (next < queue.length && next - first < MAX_BATCH && queue[next]!.atUs <= beginUs) next += 1;
    const calls = callsOf(queue.slice(first, next), keys, masters, costs);
    const runs = masters === 1 ? 1 : calls.reduce((sum, call) => sum + call.keys, 0);
    const workUs = (next - first) * costs.gatewayUs + runs * costs.sendUs;
    freeUs = beginUs + workUs;
    for (const { master, redisUs, arrivedUs } of calls) sent.push({ atUs: freeUs, master, workUs: redisUs, arrivedUs });
    busyUs += workUs;
    count += 1;
  }
  return { sent, count, busyUs, endUs: freeUs };
}

interface MasterCall {
  readonly master: number;
  readonly keys: number;
  readonly redisUs: number;
  readonly arrivedUs: readonly number[];
}

function callsOf(
  batch: readonly Request[],
  keys: Keys,
  masters: number,
  { wakeUs, runUs, keyUs, repeatUs }: Costs,
): readonly MasterCall[] {
  const perMaster = new Map<number, Request[]>();
  for (const request of batch) {
    const master = keys.masterOf(request.key, masters);
    const its = perMaster.get(master);
    if (its === undefined) perMaster.set(master, [request]);
    else its.push(request);
  }
  return [...perMaster].map(([master, requests]) => {
    const distinct = new Set(requests.map(({ key }) => key)).size;
    const runs = masters === 1 ? 1 : distinct;
    return {
      master,
      keys: distinct,
      redisUs: wakeUs + runs * runUs + distinct * keyUs + (requests.length - distinct) * repeatUs,
      arrivedUs: requests.map(({ atUs }) => atUs),
    };
  });
}

/** What the masters make of it, each in the order in which it comes. */
function serve(
  sent: readonly Sent[],
  masters: number,
): { readonly busyUs: readonly number[]; readonly endUs: readonly number[]; readonly tookUs: readonly number[] } {
  const busyUs = new Array<number>(masters).fill(0);
  const endUs = new Array<number>(masters).fill(0);
  const tookUs: number[] = [];
  for (const { atUs, master, workUs, arrivedUs } of sent.toSorted((one, other) => one.atUs - other.atUs)) {
    busyUs[master]! += workUs;
    endUs[master] = Math.max(endUs[master]!, atUs) + workUs;
    for (const arrived of arrivedUs) tookUs.push(endUs[master] - arrived);
  }
  return { busyUs, endUs, tookUs: tookUs.toSorted((one, other) => one - other) };
}

function at(sorted: readonly number[], part: number): number {
  return sorted[Math.min(Math.floor(part * sorted.length), sorted.length - 1)] ?? 0;
}

/** What is at its end first. */
export type Wall = 'gateways' | 'hottest key' | 'Redis';

/** Above this part of its master's requests the hottest key is what fills it; more masters don't help then. */
const FILLS = 0.5;
const STEPS = 14;

/** The most requests per second with which nothing is busier than `busy`, and what is then the next wall. */
export function most(setting: Setting, busy: number): Outcome & { readonly wall: Wall } {
  const { gatewayUs, keyUs } = setting.costs;
  const keys = keysOf(setting);
  // No more than these can be had of either: beyond, the one or the other would work all the time.
  let [low, high] = [
    0,
    Math.min(setting.gateways / gatewayUs, setting.masters / Math.min(keyUs, setting.costs.repeatUs)) * 1_000_000,
  ];
  for (let step = 0; step < STEPS; step += 1) {
    const middle = (low + high) / 2;
    const { gatewayBusy, redisBusy } = simulate(setting, middle, keys);
    if (Math.max(gatewayBusy, redisBusy) > busy) high = middle;
    else low = middle;
  }
  const outcome = simulate(setting, low, keys);
  const { gatewayBusy, redisBusy, hottestOfMaster, hottestIsBusiest } = outcome;
  if (gatewayBusy >= redisBusy) return { ...outcome, wall: 'gateways' };
  return { ...outcome, wall: hottestIsBusiest && hottestOfMaster >= FILLS ? 'hottest key' : 'Redis' };
}
