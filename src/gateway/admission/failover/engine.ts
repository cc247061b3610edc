import type { Log } from '../../../shared/log.js';
import { openStores } from '../engines/embedded/stores.js';
import type { RedisEngine } from '../engines/redis/engine.js';
import { addCounts, noCounts } from '../counts.js';
import type { Plans } from '../plan.js';
import { StoreUnavailable } from '../port.js';
import type { AdmissionEngine, AdmissionRequest, Credit, Failover } from '../port.js';
import type { Verdict } from '../verdict.js';
import { Copies } from './copies.js';
import type { Copy } from './copies.js';
import { Facts } from './facts.js';
import { Gateways } from './gateways.js';
import { CopyJudge } from './judge.js';
import { Keeper } from './keeper.js';
import { Learner } from './learner.js';
import { Local } from './local.js';
import { Met } from './met.js';
import { Outage } from './outage.js';
import { Rounds } from './rounds.js';
import { Spool } from './spool.js';
import { Taken } from './taken.js';

const LEARN_EVERY_MS = 250;

export interface FailoverOptions {
  /** Decides while it can. It is closed with this engine. */
  readonly redis: RedisEngine;
  /** For what is decided here, shared by all processes of this machine. */
  readonly folder: string;
  readonly mapBytes: number;
  readonly plans: Plans;
  /** How many gateways share each limit while Redis is away; `auto` is as many as were seen last. */
  readonly gateways: number | 'auto';
  /** Of every call to Redis. */
  readonly deadlineMs: number;
  /** True in one process of each gateway: the one that does what one must do for all. */
  readonly keeps: boolean;
  readonly log?: Log;
}

export type FailoverEngine = AdmissionEngine & {
  readonly failover: Failover;
  /** What is known here of a key while Redis is away. */
  copyOf(keyId: string): Copy | undefined;
  setPlans(plans: Plans): void;
};

/**
 * The Redis engine, and while Redis is away decisions made here: of keys seen within 24 hours, from this
 * gateway's share of each limit. A request that Redis may have decided is never decided again. What is
 * counted here comes into Redis's ledger once, whatever dies meanwhile.
 * Throws StoreUnavailable when the folder can't be used.
 */
export function openFailoverEngine(options: FailoverOptions): FailoverEngine {
  const { redis, log } = options;
  const parts = openParts(options);
  const { local, met, learner, gateways, spool, judge, copies } = parts;
  const onFault = (error: unknown): void => log?.error({ err: error }, 'the failover met a fault of the gateway');
  const outage = outageOf(options, parts, onFault);
  const isAway = (): boolean => outage.reason !== null;
  const learning = new Rounds(LEARN_EVERY_MS, () => (isAway() ? Promise.resolve() : learner.learn()), onFault);
  const keeper = options.keeps ? new Keeper({ ...parts, ...options, gateways, isAway, onFault }) : undefined;
  return {
    name: 'redis',
    admit: admitOf(redis, local, met, isAway),
    fail: failOf(redis, local, isAway),
    keys: redis.keys,
    bans: redis.bans,
    usage: redis.usage,
    days: redis.days,
    failover: {
      degraded: () => outage.reason,
      knowsKeys: () => copies.any(),
      gateways: () => gateways.count(),
      spooled: () => spool.pending,
      ownUsage: { rows: (from, to, keyId) => (isAway() ? local.engine : redis).usage.rows(from, to, keyId) },
    },
    check: async () => {
      if (!isAway()) {
        await redis.check().catch((error: unknown) => {
          if (!isAway()) throw error;
        });
      }
      if (isAway()) await local.engine.check();
    },
    close: async () => {
      await Promise.all([learning.stop(), outage.stop()]);
      await keeper?.stop();
      await redis.close();
      await local.engine.close();
    },
    copyOf: (keyId) => {
      copies.renew();
      return copies.read(keyId);
    },
    setPlans: (plans) => {
      redis.setPlans(plans);
      judge.plans = plans;
    },
  };
}

function openParts({ redis, folder, mapBytes, plans, gateways: configured }: FailoverOptions) {
  const stores = openStores({ folder, mapBytes });
  const [facts, taken, copies, met] = [new Facts(stores), new Taken(stores), new Copies(stores), new Met()];
  const gateways = new Gateways(facts, configured);
  const judge = new CopyJudge(copies, plans, gateways.count());
  const local = new Local(stores, copies, judge, met);
  const spool = new Spool({ local, redis, facts, taken });
  return { facts, copies, met, gateways, judge, local, spool, learner: new Learner(redis, copies, met) };
}

function outageOf({ redis, log }: FailoverOptions, { local, gateways, spool }: ReturnType<typeof openParts>, onFault: (error: unknown) => void): Outage {
  let replayed = noCounts();
  const replay = async (): Promise<void> => {
    const taken = await spool.replay();
    addCounts(replayed, taken);
  };
  return new Outage({
    redis,
    onFault,
    // First what was counted here, so that a day that is spent is spent when Redis decides again.
    beforeEnd: replay,
    began: (reason) => {
      replayed = noCounts();
      local.begin(gateways.count());
      log?.warn({ reason, gateways: gateways.count() }, 'Redis is away: this gateway decides by itself, from its share of each limit');
    },
    ended: async (awayMs) => {
      // Then what came while that was sent. If Redis goes away in the midst of it, the next time.
      await replay().catch((error: unknown) => {
        if (!(error instanceof StoreUnavailable)) onFault(error);
      });
      log?.info({ awayMs: Math.round(awayMs), replayed }, 'Redis decides again; what was counted here is in its ledger');
    },
  });
}

function admitOf(redis: RedisEngine, local: Local, met: Met, isAway: () => boolean): AdmissionEngine['admit'] {
  /** Decides here what Redis certainly has not; what it may have decided stays open. */
  const decideRest = async (requests: readonly AdmissionRequest[], error: StoreUnavailable): Promise<readonly Verdict[]> => {
    met.note(requests, error.decided);
    const { spared } = error;
    if (!isAway() || spared.length === 0) throw error;
    const decided = [...error.decided];
    const rest = spared.map((place) => requests[place]!);
    const verdicts = await local.admit(rest).catch((reason: unknown) => {
      if (reason instanceof StoreUnavailable) return reason.decided;
      throw reason;
    });
    spared.forEach((place, n) => (decided[place] = verdicts[n]));
    if (requests.every((_, place) => decided[place] !== undefined)) return decided as Verdict[];
    throw new StoreUnavailable(error.message, { decided });
  };
  return (requests) => {
    // Of a Cluster some nodes may be there: each key is asked for where it is.
    if (isAway() && !redis.cluster) return local.admit(requests);
    return redis.admit(requests).then(
      (verdicts) => {
        met.note(requests, verdicts);
        return verdicts;
      },
      (error: unknown) => {
        if (error instanceof StoreUnavailable) return decideRest(requests, error);
        throw error;
      },
    );
  };
}

/**
 * Both ledgers become one, so that a credit must go to one of them alone: one that Redis may have taken is
 * Redis's from then on, and waits for it.
 */
function failOf(redis: RedisEngine, local: Local, isAway: () => boolean): AdmissionEngine['fail'] {
  const unsure = new WeakSet<Credit>();
  const ask = async (credits: readonly Credit[]): Promise<StoreUnavailable | undefined> => {
    if (isAway() && !redis.cluster) return new StoreUnavailable('Redis is away', { spared: [...credits.keys()] });
    try {
      await redis.fail(credits);
      return undefined;
    } catch (error) {
      if (!(error instanceof StoreUnavailable)) throw error;
      return error;
    }
  };
  return async (credits) => {
    const error = await ask(credits);
    if (error === undefined) return;
    for (const [place, credit] of credits.entries()) if (!error.taken.includes(place) && !error.spared.includes(place)) unsure.add(credit);
    const here = error.spared.filter((place) => !unsure.has(credits[place]!));
    if (here.length > 0) await local.engine.fail(here.map((place) => credits[place]!));
    const taken = [...error.taken, ...here];
    if (taken.length < credits.length) throw new StoreUnavailable(error.message, { taken });
  };
}
