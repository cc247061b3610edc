import { changesNothing, decide } from '../../decide.js';
import type { SubjectState } from '../../decide.js';
import { finalityOf } from '../../finality.js';
import { ANONYMOUS_PLAN, termsOf } from '../../plan.js';
import type { Plans } from '../../plan.js';
import { StoreUnavailable } from '../../port.js';
import type { AdmissionEngine, AdmissionRequest, Credit } from '../../port.js';
import type { Verdict } from '../../verdict.js';
import { Addresses } from './addresses.js';
import { bansOf } from './bans.js';
import { Checkpoint } from './checkpoint.js';
import { Judge } from './judge.js';
import type { KeyJudge } from './judge.js';
import { keysOf } from './keys.js';
import { keyRow } from './rows.js';
import { openStores } from './stores.js';
import type { StoreOptions, Stores } from './stores.js';
import { Sweep } from './sweep.js';
import { Turn } from './turn.js';
import { attempt } from './unavailable.js';
import { Upkeep } from './upkeep.js';
import { usageOf } from './usage.js';

export interface EmbeddedOptions extends StoreOptions {
  readonly plans: Plans;
  /** Days the usage ledger is kept. */
  readonly usageDays: number;
}
export type EmbeddedEngine = AdmissionEngine & {
  /** Holds from the next admission of this process on. */
  setPlans(plans: Plans): void;
};

const COUNTED_AS = { admitted: 'requests', limited: 'limited', banned: 'banned' } as const;

/**
 * The embedded engine: LMDB files in `folder`, shared exactly by all processes of one machine.
 *
 * Promised: `kill -9` of any process loses nothing that was answered. A power cut loses at most the
 * last second of admissions and never corrupts; key changes and bans set by hand are on disk before
 * they are acknowledged. Not for network file systems, nor for more than one machine.
 * Throws StoreUnavailable when the folder cannot be used.
 */
export function openEmbeddedEngine(options: EmbeddedOptions): EmbeddedEngine {
  const stores = openStores(options);
  return engineOn(stores, new Judge(stores, options.plans), options.usageDays);
}

/** The engine on files that are open; it closes them. `judge` says which keys are good. */
export function engineOn(stores: Stores, judge: KeyJudge, usageDays: number): EmbeddedEngine {
  const addresses = new Addresses(stores);
  const checkpoint = new Checkpoint(stores);
  const upkeep = new Upkeep(stores, checkpoint, new Sweep(stores, usageDays, judge), addresses);
  const admit = (requests: readonly AdmissionRequest[]): Promise<readonly Verdict[]> =>
    attempt(stores, () =>
      stores.recent.transactionSync(() => {
        const turn = new Turn(stores);
        const clockMs = Date.now();
        const verdicts = requests.map((request) => admitOne(turn, judge, addresses, request, request.nowMs ?? clockMs));
        upkeep.nowMs = requests.at(-1)?.nowMs ?? clockMs;
        turn.finish();
        return verdicts;
      }),
    );
  return {
    name: 'embedded',
    admit,
    // One transaction: what isn't acknowledged was not counted.
    fail: (credits) => attempt(stores, () => stores.recent.transactionSync(() => countFailures(stores, credits))),
    keys: keysOf(stores),
    bans: bansOf(stores, checkpoint),
    usage: usageOf(stores, checkpoint),
    // All processes of the machine count in one ledger: nobody brings anything later.
    days: { finality: (nowMs) => Promise.resolve(finalityOf([], nowMs, 0)), giveUp: () => Promise.resolve(false) },
    check: async () => {
      await admit([{ subject: { kind: 'address', address: '0.0.0.0' }, operation: 'check', scope: null, cost: 0 }]);
      await upkeep.check();
    },
    close: () => upkeep.close(),
    setPlans: (plans) => {
      judge.plans = plans;
    },
  };
}

function admitOne(turn: Turn, judge: KeyJudge, addresses: Addresses, request: AdmissionRequest, nowMs: number): Verdict {
  const { subject, cost } = request;
  if (subject.kind === 'address') {
    const terms = termsOf(judge.plans, ANONYMOUS_PLAN, null);
    if (terms === undefined) throw new StoreUnavailable(`The plan "${ANONYMOUS_PLAN}" is missing: add it to config/plans.yaml.`);
    const name = addresses.row(subject.address);
    const known = turn.address(name);
    const isLook = changesNothing(known.state, terms.ban, cost, nowMs);
    if (!isLook) known.changed = true;
    const verdict = decide(isLook ? copyOf(known.state) : known.state, terms, null, true, cost, nowMs);
    if (cost === 1 && verdict.outcome === 'banned') turn.banned(name, verdict.bannedUntilMs, verdict.started);
    return verdict;
  }
  const key = judge.key(subject.id, subject.secretHash, nowMs);
  if (typeof key === 'string') return { outcome: 'unknown_key', reason: key };
  const { record, terms } = key;
  const inScope = request.scope === null || record.scopes === null || record.scopes.includes(request.scope);
  const row = turn.key(subject.id);
  const verdict = decide(changesNothing(row.state, terms.ban, cost, nowMs) ? copyOf(row.state) : row.state, terms, record, inScope, cost, nowMs);
  if (cost === 0) return verdict;
  turn.count(row, subject.id, terms.plan, request.operation, nowMs, COUNTED_AS[verdict.outcome]);
  if (verdict.outcome === 'banned') turn.banned(keyRow(subject.id), verdict.bannedUntilMs, verdict.started);
  return verdict;
}

/** Looking at figures brings a state up to date; that must not be written back. */
function copyOf(state: SubjectState): SubjectState {
  return { ...state, minute: { ...state.minute }, day: { ...state.day } };
}

function countFailures(stores: Stores, credits: readonly Credit[]): void {
  const turn = new Turn(stores);
  for (const { keyId, failures } of credits) {
    for (const { plan, operation, admittedAtMs } of failures) turn.count(turn.key(keyId), keyId, plan, operation, admittedAtMs, 'failed');
  }
  turn.finish();
}
