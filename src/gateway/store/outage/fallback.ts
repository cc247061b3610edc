import type { Log } from '../../../shared/log.js';
import { isUnknown, without } from '../redis/trust/doubt.js';
import type { RedisEngine } from '../redis/engine.js';
import { StoreUnavailable, type AdmissionRequest } from '../../admission/port.js';
import type { HeldFrom } from '../../admission/settlement.js';
import type { AdmissionEngine, EndedRequest, SettlementReport } from '../port.js';
import type { Verdict } from '../../admission/verdict.js';
import type { KeyCache } from './key-cache.js';
import type { Local } from './local.js';

/** Minimum interval between log lines about lost keys. */
const LOG_EVERY_MS = 10_000;

/** Returns an `admit` in which Redis decides what it can, and this gateway what Redis certainly has not decided. */
export function admitWithFallback(
  redis: RedisEngine,
  local: Local,
  keys: KeyCache,
  isUnavailable: () => boolean,
  log: Log | undefined,
): AdmissionEngine['admit'] {
  /** Decides here only what Redis cannot have decided. */
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
  /** Keeps a valid key that Redis has lost from being refused as invalid. */
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
    // Some nodes of a Cluster may be available: ask for each key on its own node.
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
 * Returns the verdicts without those based on a record older than the local copy, and the indexes of these.
 * @param unsure the indexes to check
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

/** Adds the verdicts that Redis reached by an outdated record: the ledger counted them, but their clients get a 503. */
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
 * Both ledgers will be merged, so an end must be counted in only one of them: if Redis may have accepted it, it is sent
 * to Redis again, and only there.
 */
export function settleWithFallback(
  redis: RedisEngine,
  local: Local,
  isUnavailable: () => boolean,
): AdmissionEngine['settle'] {
  const unsure = new WeakSet<SettlementReport>();
  return async (reports) => {
    const error = await ask(reports.map((report) => reportFor(report, endInRedis)));
    if (error === undefined) return;
    for (const [index, report] of reports.entries())
      if (!error.accepted.includes(index) && !error.notSent.includes(index)) unsure.add(report);
    const here = error.notSent.filter((index) => !unsure.has(reports[index]!));
    if (here.length > 0) await local.engine.settle(here.map((index) => reportFor(reports[index]!, endHere)));
    const accepted = [...error.accepted, ...here];
    if (accepted.length < reports.length) throw new StoreUnavailable(error.message, { accepted });
  };

  async function ask(reports: readonly SettlementReport[]): Promise<StoreUnavailable | undefined> {
    if (isUnavailable() && !redis.cluster)
      return new StoreUnavailable('Redis is unavailable', { notSent: [...reports.keys()] });
    try {
      await redis.settle(reports);
      return undefined;
    } catch (error) {
      if (error instanceof StoreUnavailable) return error;
      throw error;
    }
  }
}

/** The share of a limit gets back only what it held itself: the spool gives the rest back in Redis. */
function endHere(request: EndedRequest): EndedRequest {
  return request.isLocal === true ? request : withWindows(request, () => false);
}

/** Redis knows what a share spent of days and months, but neither its minutes nor its leases. */
function endInRedis(request: EndedRequest): EndedRequest {
  if (request.isLocal !== true) return request;
  return withWindows(request, ({ per, refill }) => per !== 'minute' && refill === 0);
}

/** Without its lease, and only with these windows. */
function withWindows(request: EndedRequest, isKept: (window: HeldFrom) => boolean): EndedRequest {
  const { settlement } = request;
  const windows = settlement?.windows.filter(isKept) ?? [];
  return { ...request, lease: undefined, settlement: settlement && { ...settlement, windows } };
}

/** A report as one of the two stores counts it: always the same. */
function reportFor(report: SettlementReport, endOf: (request: EndedRequest) => EndedRequest): SettlementReport {
  return { ...report, ended: report.ended.map(endOf) };
}

/** Renews each lease where it was given. */
export function renewWithFallback(
  redis: RedisEngine,
  local: Local,
  isUnavailable: () => boolean,
): AdmissionEngine['renew'] {
  return async (leases) => {
    await local.engine.renew(leases.filter(({ isLocal }) => isLocal));
    if (!isUnavailable() || redis.cluster) await redis.renew(leases.filter(({ isLocal }) => !isLocal));
  };
}
