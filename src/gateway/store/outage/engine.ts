import type { Log } from '../../../shared/log.js';
import { repeat } from '../../../shared/repeat.js';
import { openStores } from '../embedded/files/stores.js';
import { isUnknown, without } from '../redis/trust/doubt.js';
import type { RedisEngine } from '../redis/engine.js';
import { addCounts, noCounts } from '../counts.js';
import type { Plans } from '../../admission/plan.js';
import { StoreUnavailable } from '../../admission/port.js';
import type { AdmissionRequest } from '../../admission/port.js';
import type { AdmissionEngine, Credit, Failover } from '../port.js';
import type { Verdict } from '../../admission/verdict.js';
import { CachedKeyVerifier } from './verifier.js';
import { Keeper } from './keeper.js';
import { KeyCache } from './key-cache.js';
import type { CachedKey } from './key-cache.js';
import type { CustomerRecord } from '../records/customer.js';
import { Local } from './local.js';
import { Metadata } from './metadata.js';
import { Outage } from './outage.js';
import { Spool } from './spool.js';
import { AcknowledgedCounts } from './acknowledged.js';

const REFRESH_EVERY_MS = 250;
/** How often at most the log says that keys are lost. */
const TELL_EVERY_MS = 10_000;

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
  /** Whether crossings are told as events; left out, they are not. */
  readonly events?: boolean;
  readonly log?: Log;
}

export type FailoverEngine = AdmissionEngine & {
  readonly failover: Failover;
  /** What is known here of a key while Redis is away. */
  cachedKey(keyId: string): CachedKey | undefined;
  /** The same of a customer. */
  cachedCustomer(customerId: string): CustomerRecord | undefined;
  setPlans(plans: Plans): void;
  refusal: RedisEngine['refusal'];
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
  const { stores, keys, local, gateways, spool, verifier } = parts;
  /** That a store is away is no fault. */
  const onError = (error: unknown): void => {
    if (!(error instanceof StoreUnavailable)) log?.error({ err: error }, 'the failover met a fault of the gateway');
  };
  const outage = outageOf(options, parts, onError);
  const isAway = (): boolean => outage.reason !== null;
  const stopRefresh = repeat(REFRESH_EVERY_MS, () => (isAway() ? Promise.resolve() : keys.refresh()), onError);
  const keeper = options.keeps ? new Keeper({ ...options, ...parts, isAway, onError }) : undefined;
  return {
    name: 'redis',
    admit: admitOf(redis, local, keys, isAway, log),
    fail: failOf(redis, local, isAway),
    keys: redis.keys,
    customers: redis.customers,
    tokens: redis.tokens,
    outbox: redis.outbox,
    bans: redis.bans,
    usage: redis.usage,
    days: redis.days,
    trust: redis.trust,
    failover: {
      degraded: () => outage.reason,
      knowsKeys: () => !keys.isEmpty(),
      gateways,
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
    reopenings: () => stores.reopenings,
    close: async () => {
      await Promise.all([stopRefresh(), outage.stop()]);
      await keeper?.stop();
      await redis.close();
      await local.engine.close();
    },
    cachedKey: (keyId) => {
      stores.durable.resetReadTxn();
      return keys.read(keyId);
    },
    cachedCustomer: (customerId) => {
      stores.durable.resetReadTxn();
      return keys.customer(customerId);
    },
    refusal: (plans) => redis.refusal(plans),
    setPlans: (plans) => {
      redis.setPlans(plans);
      verifier.plans = plans;
    },
  };
}

function openParts({
  redis,
  folder,
  mapBytes,
  plans,
  gateways: configured,
  keeps,
  events = false,
  log,
}: FailoverOptions) {
  const stores = openStores({ folder, mapBytes, log });
  const [keys, metadata] = [new KeyCache(stores, redis), new Metadata(stores)];
  const group = keeps ? metadata.begin() : '';
  const gateways = (): number => (configured === 'auto' ? metadata.gateways() : configured);
  const verifier = new CachedKeyVerifier(keys, plans, gateways());
  const local = new Local(stores, keys, verifier, events);
  const spool = new Spool({ local, redis, metadata, acknowledged: new AcknowledgedCounts(stores) });
  return { stores, keys, metadata, group, gateways, verifier, local, spool };
}

function outageOf(
  { redis, log }: FailoverOptions,
  { local, gateways, spool }: ReturnType<typeof openParts>,
  onError: (error: unknown) => void,
): Outage {
  let replayed = noCounts();
  const replay = async (): Promise<void> => {
    const taken = await spool.replay();
    addCounts(replayed, taken);
  };
  return new Outage({
    redis,
    onError,
    // First what was counted here, so that a day that is spent is spent when Redis decides again.
    beforeEnd: replay,
    began: (reason) => {
      replayed = noCounts();
      local.begin(gateways());
      log?.warn(
        { reason, gateways: gateways() },
        'Redis is away: this gateway decides by itself, from its share of each limit',
      );
    },
    ended: async (awayMs) => {
      // Then what came while that was sent. If Redis goes away in the midst of it, the next time.
      await replay().catch(onError);
      log?.info(
        { awayMs: Math.round(awayMs), replayed },
        'Redis decides again; what was counted here is in its ledger',
      );
    },
  });
}

function admitOf(
  redis: RedisEngine,
  local: Local,
  keys: KeyCache,
  isAway: () => boolean,
  log: Log | undefined,
): AdmissionEngine['admit'] {
  /** Decides here what Redis certainly has not; what it may have decided stays open. */
  const decideRest = async (
    requests: readonly AdmissionRequest[],
    error: StoreUnavailable,
  ): Promise<readonly Verdict[]> => {
    keys.note(requests, error.decided);
    const { notSent } = error;
    if (!isAway() || notSent.length === 0) throw error;
    const decided = [...error.decided];
    const rest = notSent.map((place) => requests[place]!);
    const verdicts = await local.admit(rest).catch((reason: unknown) => {
      if (reason instanceof StoreUnavailable) return reason.decided;
      throw reason;
    });
    notSent.forEach((place, n) => (decided[place] = verdicts[n]));
    if (requests.every((_, place) => decided[place] !== undefined)) return decided as Verdict[];
    throw new StoreUnavailable(error.message, { decided, late: error.late });
  };
  let toldAtMs = -Infinity;
  /** Nobody is told that a key is not good which Redis has lost. */
  const unlessLost = async (
    requests: readonly AdmissionRequest[],
    verdicts: readonly Verdict[],
  ): Promise<readonly Verdict[]> => {
    const lost = await keys.lost(requests, verdicts);
    if (lost.length === 0) {
      keys.note(requests, verdicts);
      return verdicts;
    }
    if (performance.now() - toldAtMs > TELL_EVERY_MS) {
      toldAtMs = performance.now();
      const { subject } = requests[lost[0]!]!;
      log?.error({ key: subject.kind === 'key' ? subject.id : '' }, 'Redis has lost a key that was good');
    }
    return decideRest(requests, without(verdicts, lost, new StoreUnavailable('Redis has lost a key that was good')));
  };
  return (requests) => {
    // Of a Cluster some nodes may be there: each key is asked for where it is.
    if (isAway() && !redis.cluster) return local.admit(requests);
    return redis.admit(requests).then(
      (verdicts) => {
        if (verdicts.some(isUnknown)) return unlessLost(requests, verdicts);
        keys.note(requests, verdicts);
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
    if (isAway() && !redis.cluster) return new StoreUnavailable('Redis is away', { notSent: [...credits.keys()] });
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
    for (const [place, credit] of credits.entries())
      if (!error.taken.includes(place) && !error.notSent.includes(place)) unsure.add(credit);
    const here = error.notSent.filter((place) => !unsure.has(credits[place]!));
    if (here.length > 0) await local.engine.fail(here.map((place) => credits[place]!));
    const taken = [...error.taken, ...here];
    if (taken.length < credits.length) throw new StoreUnavailable(error.message, { taken });
  };
}
