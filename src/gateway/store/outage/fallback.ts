import type { Log } from '../../../shared/log.js';
import { isUnknown, without } from '../redis/trust/doubt.js';
import type { RedisEngine } from '../redis/engine.js';
import { StoreUnavailable } from '../../admission/port.js';
import type { AdmissionRequest } from '../../admission/port.js';
import type { AdmissionEngine, Credit } from '../port.js';
import type { Verdict } from '../../admission/verdict.js';
import type { KeyCache } from './key-cache.js';
import type { Local } from './local.js';

/** How often at most the log says that keys are lost. */
const LOG_EVERY_MS = 10_000;

/** Redis decides what it can, and this gateway what Redis certainly has not. */
export function admitWithFallback(
  redis: RedisEngine,
  local: Local,
  keys: KeyCache,
  isAway: () => boolean,
  log: Log | undefined,
): AdmissionEngine['admit'] {
  /** What Redis may have decided stays open. */
  const decideRest = async (
    requests: readonly AdmissionRequest[],
    error: StoreUnavailable,
  ): Promise<readonly Verdict[]> => {
    keys.verdicts.note(requests, error.decided);
    const { notSent } = error;
    if (!isAway() || notSent.length === 0) throw error;
    const decided = [...error.decided];
    const verdicts = await local.admit(notSent.map((index) => requests[index]!)).catch((reason: unknown) => {
      if (reason instanceof StoreUnavailable) return reason.decided;
      throw reason;
    });
    notSent.forEach((index, n) => (decided[index] = verdicts[n]));
    if (requests.every((_, index) => decided[index] !== undefined)) return decided as Verdict[];
    throw new StoreUnavailable(error.message, { decided, late: error.late });
  };
  let loggedAtMs = -Infinity;
  /** Nobody is told that a key is invalid which Redis has lost. */
  const unlessLost = async (
    requests: readonly AdmissionRequest[],
    verdicts: readonly Verdict[],
  ): Promise<readonly Verdict[]> => {
    const [first, ...others] = await keys.lost(requests, verdicts);
    if (first === undefined) {
      keys.verdicts.note(requests, verdicts);
      return verdicts;
    }
    if (performance.now() - loggedAtMs > LOG_EVERY_MS) {
      loggedAtMs = performance.now();
      const { subject } = requests[first]!;
      log?.error({ key: subject.kind === 'key' ? subject.id : '' }, 'Redis has lost a key that was good');
    }
    const error = new StoreUnavailable('Redis has lost a key that was good');
    return decideRest(requests, without(verdicts, [first, ...others], error));
  };
  return (requests) => {
    // Of a Cluster some nodes may be there: each key is asked for where it is.
    if (isAway() && !redis.cluster) return local.admit(requests);
    return redis.admit(requests).then(
      (verdicts) => {
        if (verdicts.some(isUnknown)) return unlessLost(requests, verdicts);
        keys.verdicts.note(requests, verdicts);
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
 * Both ledgers become one, so that a failure must be counted in one of them alone: one that Redis may have taken is
 * Redis's from then on, and waits for it.
 */
export function failWithFallback(redis: RedisEngine, local: Local, isAway: () => boolean): AdmissionEngine['fail'] {
  const unsure = new WeakSet<Credit>();
  return async (credits) => {
    const error = await ask(credits);
    if (error === undefined) return;
    for (const [index, credit] of credits.entries())
      if (!error.taken.includes(index) && !error.notSent.includes(index)) unsure.add(credit);
    const here = error.notSent.filter((index) => !unsure.has(credits[index]!));
    if (here.length > 0) await local.engine.fail(here.map((index) => credits[index]!));
    const taken = [...error.taken, ...here];
    if (taken.length < credits.length) throw new StoreUnavailable(error.message, { taken });
  };

  async function ask(credits: readonly Credit[]): Promise<StoreUnavailable | undefined> {
    if (isAway() && !redis.cluster) return new StoreUnavailable('Redis is away', { notSent: [...credits.keys()] });
    try {
      await redis.fail(credits);
      return undefined;
    } catch (error) {
      if (error instanceof StoreUnavailable) return error;
      throw error;
    }
  }
}
