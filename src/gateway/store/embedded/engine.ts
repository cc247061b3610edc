import { applyChanges, changesOf } from '../../admission/settlement.js';
import { changesNothing, decide, type SubjectState } from '../../admission/decide.js';
import { payerOf } from '../records/customer-id.js';
import { merged, split, copyOfState } from '../state.js';
import type { GatewayEvent } from '../outbox/event.js';
import { automaticBan, banEvent, crossedEvent, crossingsOf } from '../records/facts.js';
import { finalityOf } from '../finality.js';
import { ANONYMOUS_PLAN, termsOf, WARN_AT, type BanRule, type Plans } from '../../admission/plan.js';
import { StoreUnavailable, type AdmissionRequest } from '../../admission/port.js';
import type { AdmissionEngine, EndedRequest, SettlementReport } from '../port.js';
import type { BannedVerdict, Verdict } from '../../admission/verdict.js';
import { costOf } from '../../admission/windows.js';
import { addressesOf, type Addresses } from './records/addresses.js';
import { bansOf } from './records/bans.js';
import { storedKeyVerifier, type KeyVerifier } from './records/verifier.js';
import { customersOf, keysOf } from './records/rows.js';
import { outboxOf } from './outbox/outbox.js';
import { sessionSecretOf } from './records/session-secret.js';
import { tokensOf } from './records/tokens.js';
import { openStores, type StoreOptions, type Stores } from './owner/stores.js';
import { sweepOf } from './sweep.js';
import { transact, type Transaction } from './owner/transaction.js';
import type { Entry } from './journal/entry.js';
import { attempt } from './files/errors.js';
import { Leases } from './leases.js';
import { maintain } from './maintenance.js';
import { usageOf } from './ledger/rows.js';
import { ledgerTransferOf } from './ledger/transfer.js';

export interface EmbeddedOptions extends StoreOptions {
  readonly plans: Plans;
  /** Days to keep the usage ledger. */
  readonly usageDays: number;
  /** Whether crossings and bans emit events; default false. */
  readonly events?: boolean;
}
export type EmbeddedEngine = AdmissionEngine & {
  /** Applies from the next admission on. */
  setPlans(plans: Plans): void;
};

/** More processes than can still send a report again. */
const MAX_REPORTERS = 1_000;
const COUNTED_AS = { admitted: 'requests', limited: 'limited', banned: 'banned' } as const;

/**
 * Opens the embedded engine on the files in `folder`, which only this process may open. Throws StoreUnavailable if the
 * folder cannot be used. Not for network file systems or several machines.
 *
 * `kill -9` loses nothing that was acknowledged. A power cut loses at most the last half second of admissions plus the
 * time that the disk needs, and corrupts nothing; key changes and manual bans are on disk before they are acknowledged.
 */
export function openEmbeddedEngine(options: EmbeddedOptions): EmbeddedEngine {
  const stores = openStores(options);
  return engineOn(stores, storedKeyVerifier(stores, options.plans), options.usageDays, options.events);
}

/** Returns an engine on open files, which its `close` closes. `now` is the clock. */
export function engineOn(
  stores: Stores,
  verifier: KeyVerifier,
  usageDays: number,
  emitsEvents = false,
  now = Date.now,
): EmbeddedEngine {
  const addresses = addressesOf(stores);
  const maintenance = maintain(stores, sweepOf(stores, usageDays, verifier), addresses);
  const usage = usageOf(stores);
  /** The last report of each process: a worker that heard no response sends its reports again. Latest process last. */
  const settled = new Map<string, number>();
  const leases = new Leases();
  const admit = (requests: readonly AdmissionRequest[]): Promise<readonly Verdict[]> =>
    attempt(stores, () =>
      transact(stores, (transaction) => {
        if (requests.some(({ cost }) => cost > 0)) transaction.reserve();
        const clockMs = now();
        maintenance.nowMs = requests.at(-1)?.nowMs ?? clockMs;
        return requests.map((request) => {
          const verdict = admitOne(transaction, verifier, addresses, leases, request, request.nowMs ?? clockMs);
          if (emitsEvents) emitEvents(transaction, verifier.plans, verdict);
          return verdict;
        });
      }),
    );
  return {
    name: 'embedded',
    admit,
    // A single record of the journal: either all of it is counted, or nothing.
    settle: (reports) =>
      attempt(stores, () => {
        const fresh = reports.filter(({ reporter, number }) => number > (settled.get(reporter) ?? 0));
        transact(stores, (transaction) => fresh.forEach((report) => settle(transaction, report)));
        for (const { reporter, number } of fresh) {
          settled.delete(reporter);
          settled.set(reporter, number);
        }
        for (const oldest of settled.keys()) {
          if (settled.size <= MAX_REPORTERS) break;
          settled.delete(oldest);
        }
        for (const { keyId, ended } of fresh) for (const { lease } of ended) leases.end(keyId, lease);
      }),
    renew: (renewed) => {
      for (const lease of renewed) leases.renew(lease, now());
      return Promise.resolve();
    },
    keys: keysOf(stores),
    customers: customersOf(stores),
    tokens: tokensOf(stores),
    sessionSecret: sessionSecretOf(stores),
    outbox: outboxOf(stores),
    bans: bansOf(stores, addresses),
    usage,
    transfer: ledgerTransferOf(stores, usage, usageDays),
    // Only this process counts, so no counts arrive late.
    days: { finality: (nowMs) => Promise.resolve(finalityOf([], nowMs, 0)), giveUp: () => Promise.resolve(false) },
    check: async () => {
      await admit([{ subject: { kind: 'address', address: '0.0.0.0' }, operation: 'check', scope: null, cost: 0 }]);
      await maintenance.check();
    },
    reopenings: () => stores.reopenings,
    close: () => maintenance.close(),
    setPlans: (plans) => {
      verifier.plans = plans;
    },
  };
}

function admitOne(
  transaction: Transaction,
  verifier: KeyVerifier,
  addresses: Addresses,
  leases: Leases,
  request: AdmissionRequest,
  nowMs: number,
): Verdict {
  const { subject, operation, scope } = request;
  if (subject.kind === 'address')
    return admitAddress(transaction, verifier.plans, addresses.row(subject.address), request, nowMs);
  const key = verifier.verify(subject.id, subject.secretHash, nowMs, request);
  if (typeof key === 'string') return { outcome: 'unknown_key', reason: key };
  const { record, terms, customerId } = key;
  const cost = costOf(terms.operations, operation, request.cost);
  const inScope = scope === null || record.scopes === null || record.scopes.includes(scope);
  const entry = transaction.key(subject.id);
  const inFlight = terms.concurrency === undefined ? 0 : leases.count(subject.id, nowMs);
  const customer = customerId === null ? null : transaction.key(customerId);
  const whole = customer === null ? entry.state : merged(entry.state, customer.state);
  const state = scratchOf(whole, terms.ban, cost, nowMs);
  const verdict = decide(state, terms, record, inScope, operation, cost, nowMs, inFlight);
  if (customer !== null && state === whole) {
    split(state, entry.state, customer.state);
    transaction.change(customer);
  }
  if (cost === 0) return verdict;
  // Also marks the key's entry as changed.
  const counts = transaction.count(entry, terms.plan, operation, nowMs, COUNTED_AS[verdict.outcome]);
  if (verdict.outcome === 'admitted') counts.units += cost;
  if (verdict.outcome === 'banned') {
    transaction.banned(entry, verdict.bannedUntilMs, verdict.started);
    if (verdict.started)
      transaction.automaticBan({ keyId: subject.id, version: record.version, entry: automaticBan(startOf(verdict)) });
  }
  if (verdict.outcome !== 'admitted' || terms.concurrency === undefined) return verdict;
  const lease = leases.take(subject.id, nowMs);
  transaction.otherwise(() => leases.end(subject.id, lease));
  return { ...verdict, lease };
}

/** Emits the events of an admission in the same step. */
function emitEvents(transaction: Transaction, plans: Plans, verdict: Verdict): void {
  if (verdict.outcome === 'unknown_key' || verdict.cost === 0 || verdict.keyId === null) return;
  const { keyId, plan, atMs } = verdict;
  if (verdict.outcome === 'admitted') {
    const payer = payerOf(keyId);
    for (const crossing of crossingsOf(verdict, plans.get(plan)?.warnAt ?? WARN_AT))
      if (transaction.isFirst(payer, crossing)) transaction.emit(crossedEvent(payer, keyId, plan, crossing, atMs));
  } else if (verdict.outcome === 'banned' && verdict.started) {
    transaction.emit(startOf(verdict));
  }
}

function startOf({ keyId, plan, bannedUntilMs: untilMs, level, atMs }: BannedVerdict): GatewayEvent {
  return banEvent(keyId ?? '', plan, { untilMs, level }, atMs);
}

function admitAddress(
  transaction: Transaction,
  plans: Plans,
  name: string,
  { operation, cost }: AdmissionRequest,
  nowMs: number,
): Verdict {
  const terms = termsOf(plans, ANONYMOUS_PLAN, null);
  if (terms === undefined)
    throw new StoreUnavailable(`The plan "${ANONYMOUS_PLAN}" is missing: add it to config/plans.yaml.`);
  const entry = transaction.address(name);
  const state = scratchOf(entry.state, terms.ban, cost, nowMs);
  if (state === entry.state) transaction.change(entry);
  const verdict = decide(state, terms, null, true, operation, cost, nowMs);
  if (cost > 0 && verdict.outcome === 'banned') transaction.banned(entry, verdict.bannedUntilMs, verdict.started);
  return verdict;
}

/** Returns the state, or a copy if the decision settles it only for the figures and must not store it. */
function scratchOf(state: SubjectState, ban: BanRule, cost: number, nowMs: number): SubjectState {
  return changesNothing(state, ban, cost, nowMs) ? copyOfState(state) : state;
}

function settle(transaction: Transaction, { keyId, ended }: SettlementReport): void {
  for (const request of ended) countEnd(transaction, transaction.key(keyId), request);
  const changes = changesOf(ended.flatMap(({ settlement }) => settlement ?? []));
  if (changes.length === 0) return;
  const payer = transaction.key(payerOf(keyId));
  applyChanges(payer.state, changes);
  transaction.change(payer);
}

function countEnd(transaction: Transaction, entry: Entry, request: EndedRequest): void {
  const { plan, operation, admittedAtMs, isFailed, settlement: { units } = { units: 0 } } = request;
  if (isFailed) transaction.count(entry, plan, operation, admittedAtMs, 'failed');
  if (units > 0) transaction.count(entry, plan, operation, admittedAtMs, 'units', units);
  if (units < 0) transaction.count(entry, plan, operation, admittedAtMs, 'returned', -units);
}
