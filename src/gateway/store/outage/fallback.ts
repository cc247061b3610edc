import type { Log } from '../../../shared/log.js';
import { isUnknown, without } from '../redis/trust/doubt.js';
import type { RedisEngine } from '../redis/engine.js';
import { StoreUnavailable, type AdmissionRequest } from '../../admission/port.js';
import type { AdmissionEngine, FailureReport } from '../port.js';
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
  isUnavailable: () => boolean,
  log: Log | undefined,
): AdmissionEngine['admit'] {
  /** What Redis may have decided stays open. */
  const decideRest = async (
    requests: readonly AdmissionRequest[],
    error: StoreUnavailable,
  ): Promise<readonly Verdict[]> => {
    const { notSent } = error;
    const [decided, stale] = await newest(keys, requests, error.decided, keys.verdicts.note(requests, error.decided));
    const late = stale.length === 0 ? error.late : lateOf(error.decided, stale, error.late);
    if (!isUnavailable() || notSent.length === 0)
      throw stale.length === 0 ? error : new StoreUnavailable(error.message, { decided, notSent, late });
    const verdicts = await local.admit(notSent.map((index) => requests[index]!)).catch((reason: unknown) => {
      if (reason instanceof StoreUnavailable) return reason.decided;
      throw reason;
    });
    notSent.forEach((index, n) => (decided[index] = verdicts[n]));
    if (requests.every((_, index) => decided[index] !== undefined)) return decided as Verdict[];
    throw new StoreUnavailable(error.message, { decided, late });
  };
  const refuseStale = async (
    requests: readonly AdmissionRequest[],
    verdicts: readonly Verdict[],
    unsure: readonly number[],
  ): Promise<readonly Verdict[]> => {
    const [decided, stale] = await newest(keys, requests, verdicts, unsure);
    if (stale.length === 0) return verdicts;
    const late = lateOf(verdicts, stale);
    throw new StoreUnavailable('Redis has an older record of the key than this gateway', { decided, late });
  };
  const unlessStale = (
    requests: readonly AdmissionRequest[],
    verdicts: readonly Verdict[],
  ): readonly Verdict[] | Promise<readonly Verdict[]> => {
    const unsure = keys.verdicts.note(requests, verdicts);
    return unsure.length === 0 ? verdicts : refuseStale(requests, verdicts, unsure);
  };
  let loggedAtMs = -Infinity;
  /** A key that Redis has lost is never refused as invalid. */
  const unlessLost = async (
    requests: readonly AdmissionRequest[],
    verdicts: readonly Verdict[],
  ): Promise<readonly Verdict[]> => {
    const [first, ...others] = await keys.lost(requests, verdicts);
    if (first === undefined) return unlessStale(requests, verdicts);
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
    if (isUnavailable() && !redis.cluster) return local.admit(requests);
    return redis.admit(requests).then(
      (verdicts) => {
        if (verdicts.some(isUnknown)) return unlessLost(requests, verdicts);
        return unlessStale(requests, verdicts);
      },
      (error: unknown) => {
        if (error instanceof StoreUnavailable) return decideRest(requests, error);
        throw error;
      },
    );
  };
}

/**
 * The verdicts without those by a record that is older than its copy here, and the indexes of these.
 * @param unsure the indexes to look at
 */
async function newest(
  keys: KeyCache,
  requests: readonly AdmissionRequest[],
  verdicts: readonly (Verdict | undefined)[],
  unsure: readonly number[],
): Promise<[decided: (Verdict | undefined)[], stale: readonly number[]]> {
  const stale = unsure.length === 0 ? unsure : await keys.stale(requests, verdicts, unsure);
  const newest = unsure.filter((index) => !stale.includes(index));
  keys.verdicts.confirm(requests, verdicts, newest);
  const decided = [...verdicts];
  for (const index of stale) decided[index] = undefined;
  return [decided, stale];
}

/** What Redis decided by a record that is not the newest: whoever asked is not admitted, so it counts as failed. */
function lateOf(
  verdicts: readonly (Verdict | undefined)[],
  stale: readonly number[],
  late: StoreUnavailable['late'] = [],
): StoreUnavailable['late'] {
  return verdicts.map((verdict, index) =>
    verdict !== undefined && stale.includes(index) ? Promise.resolve(verdict) : late[index],
  );
}

/**
 * Both ledgers become one, so that a failure must be counted in one of them alone: one that Redis may have taken is
 * Redis's from then on, and waits for it.
 */
export function failWithFallback(
  redis: RedisEngine,
  local: Local,
  isUnavailable: () => boolean,
): AdmissionEngine['fail'] {
  const unsure = new WeakSet<FailureReport>();
  return async (reports) => {
    const error = await ask(reports);
    if (error === undefined) return;
    for (const [index, report] of reports.entries())
      if (!error.accepted.includes(index) && !error.notSent.includes(index)) unsure.add(report);
    const here = error.notSent.filter((index) => !unsure.has(reports[index]!));
    if (here.length > 0) await local.engine.fail(here.map((index) => reports[index]!));
    const accepted = [...error.accepted, ...here];
    if (accepted.length < reports.length) throw new StoreUnavailable(error.message, { accepted });
  };

  async function ask(reports: readonly FailureReport[]): Promise<StoreUnavailable | undefined> {
    if (isUnavailable() && !redis.cluster)
      return new StoreUnavailable('Redis is unavailable', { notSent: [...reports.keys()] });
    try {
      await redis.fail(reports);
      return undefined;
    } catch (error) {
      if (error instanceof StoreUnavailable) return error;
      throw error;
    }
  }
}
