import { join } from 'node:path';
import { cpuUs } from './cpu.js';
import { intervalOf, quantile, type Interval } from './figures.js';
import { Run } from './load/drive.js';
import { nameOf, type Case, type Scenario } from './scenarios.js';
import { Fleet } from './subjects/fleet.js';
import { Keys } from './subjects/keys.js';
import { usesRedis, type SubjectName } from './subjects/subject.js';

/**
 * This build beside another one. A process differs from the next of the same program by up to a tenth for as long as
 * it runs, and what else the machine does differs from second to second. So both are loaded in turns of a fraction of
 * a second, each turn is compared with the one beside it, and every few seconds both processes are new ones: the
 * ratio of a pair of processes is one observation.
 */
const WARM_UP_S = 3;
const TURN_S = 0.3;

export interface AgainstOptions {
  /** The root of the other build. */
  readonly against: string;
  readonly pairs: number;
  /** Turns of each pair; of one alone nothing is warm. */
  readonly rounds: number;
  readonly subjects: ReadonlySet<SubjectName>;
  readonly folder: string;
  readonly say: (line: string) => void;
}

export interface Comparison {
  readonly name: string;
  /** CPU per request of this build / of the other. */
  readonly gateway: Interval;
  /** Of the store's own process; undefined without one. */
  readonly store: Interval | undefined;
}

/** What one turn cost, CPU per request in µs. */
interface Cost {
  readonly gateway: number;
  readonly store: number;
}

/** Compares Petgate's cases of a scenario, one after the other. */
export async function compare(scenario: Scenario, options: AgainstOptions): Promise<readonly Comparison[]> {
  const isOurs = ({ subject }: Case): boolean => subject.startsWith('embedded') || subject.startsWith('redis');
  const cases = scenario.cases.filter((one) => isOurs(one) && options.subjects.has(one.subject));
  const comparisons: Comparison[] = [];
  for (const one of cases) comparisons.push(await compareCase(one, options));
  return comparisons;
}

async function compareCase(one: Case, options: AgainstOptions): Promise<Comparison> {
  const { pairs, say } = options;
  const name = nameOf(one);
  const ratios: Cost[] = [];
  let comparison: Comparison;
  do {
    ratios.push(await ratioOfPair(one, ratios.length, options));
    comparison = {
      name,
      gateway: intervalOf(ratios.map(({ gateway }) => gateway)),
      store: usesRedis(one.subject) ? intervalOf(ratios.map(({ store }) => store)) : undefined,
    };
    say(`  ${ratios.length}/${pairs} ${ratios.at(-1)!.gateway.toFixed(3)}: ${textOf(comparison)}`);
  } while (ratios.length < pairs);
  return comparison;
}

/** Of two new processes, of which now one and now the other started first. */
async function ratioOfPair(one: Case, pair: number, { against, rounds, folder }: AgainstOptions): Promise<Cost> {
  const keys = new Keys();
  const fleets: Fleet[] = [];
  try {
    const start = async (root?: string): Promise<Loaded> => {
      const own = join(folder, `${nameOf(one)} ${pair} ${fleets.length}`);
      const fleet = await Fleet.start(new Set([one.subject]), {}, own, root);
      fleets.push(fleet);
      return Loaded.start(fleet, one, keys, rounds > 1 ? WARM_UP_S : 0);
    };
    const isOursFirst = pair % 2 === 0;
    const [first, second] = [
      await start(isOursFirst ? undefined : against),
      await start(isOursFirst ? against : undefined),
    ];
    const [ours, theirs] = isOursFirst ? [first, second] : [second, first];
    const ratios: Cost[] = [];
    for (let turn = 0; turn < rounds; turn += 1) {
      const costs = new Map<Loaded, Cost>();
      for (const loaded of turn % 2 === 0 ? [ours, theirs] : [theirs, ours]) costs.set(loaded, await loaded.turn());
      const [our, their] = [costs.get(ours)!, costs.get(theirs)!];
      ratios.push({ gateway: our.gateway / their.gateway, store: our.store / their.store });
    }
    for (const loaded of [ours, theirs]) loaded.run.end();
    const median = (figure: keyof Cost): number =>
      quantile(
        ratios.map((ratio) => ratio[figure]),
        0.5,
      );
    return { gateway: median('gateway'), store: median('store') };
  } finally {
    for (const fleet of fleets) await fleet.stop();
  }
}

/** A gateway with connections that stay open. */
class Loaded {
  readonly run: Run;
  readonly #pid: number;
  readonly #storePid: number;

  private constructor(run: Run, pid: number, storePid: number) {
    this.run = run;
    this.#pid = pid;
    this.#storePid = storePid;
  }

  static async start(fleet: Fleet, { subject, traffic }: Case, keys: Keys, warmUpS: number): Promise<Loaded> {
    const started = fleet.subjects.get(subject);
    if (started === undefined) throw new Error(`${subject} did not start: ${fleet.leftOut[0]?.why ?? ''}`);
    const made = keys.of(traffic.keys, traffic.keyCount);
    await fleet.register(made, traffic.keys);
    const tokens = made.map(({ token }) => token);
    const run = await Run.to({ port: started.port, tls: false, traffic, tokens });
    await run.closed(warmUpS);
    return new Loaded(run, started.child.pid!, fleet.redis.pid);
  }

  async turn(): Promise<Cost> {
    const [before, storeBefore, answered] = [cpuUs(this.#pid), cpuUs(this.#storePid), this.run.answered];
    await this.run.closed(TURN_S);
    const requests = this.run.answered - answered;
    return {
      gateway: (cpuUs(this.#pid) - before) / requests,
      store: (cpuUs(this.#storePid) - storeBefore) / requests,
    };
  }
}

export function textOf({ name, gateway, store }: Comparison): string {
  const text = ({ median, low, high }: Interval): string =>
    `${median.toFixed(3)} (95 %: ${low.toFixed(3)}–${high.toFixed(3)})`;
  return `${name}: gateway ${text(gateway)}${store === undefined ? '' : `, store ${text(store)}`} of the build before`;
}
