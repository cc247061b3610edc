import { DAY_MS } from '../../src/gateway/admission/bucket.js';
import { finalityOf } from '../../src/gateway/store/finality.js';
import { ANONYMOUS_PLAN, type Plans } from '../../src/gateway/admission/plan.js';
import { customerOf } from '../../src/gateway/store/records/customer-id.js';
import type { CustomerRecord } from '../../src/gateway/store/records/customer.js';
import { VersionConflict } from '../../src/gateway/store/records/conflicts.js';
import type { AdmissionRequest, Subject } from '../../src/gateway/admission/port.js';
import type { AdmissionEngine, EndedRequest } from '../../src/gateway/store/port.js';
import type { UsageCounts, UsageRow } from '../../src/gateway/store/records/counts.js';
import type { UnknownReason, Verdict } from '../../src/gateway/admission/verdict.js';
import type { KeyRecord } from '../../src/gateway/store/records/key.js';
import type { AuditEntry } from '../../src/gateway/store/records/record.js';
import type { GatewayEvent } from '../../src/gateway/store/outbox/event.js';
import {
  decideExactly,
  freshExact,
  settleExactly,
  type ExactCrossing,
  type ExactPlan,
  type ExactState,
} from './exact.js';

export type SteeredEngine = AdmissionEngine & {
  setPlans(plans: Plans): void;
  /** Forgets what nobody needs any more at `nowMs`; left out where nothing is ever forgotten. */
  sweep?(nowMs: number): Promise<void>;
};

/** By which plan it is decided, about a key with its limits, and from whose windows. */
interface Binding {
  readonly plan: ExactPlan;
  readonly record: KeyRecord | undefined;
  readonly customerId: string | null;
}

/**
 * The engine in its plainest form: maps, and the decision in whole numbers of any size. What the others are compared
 * with.
 */
export function referenceEngine(firstPlans: Plans): SteeredEngine {
  let plans = firstPlans;
  const records = new Map<string, KeyRecord>();
  const customers = new Map<string, CustomerRecord>();
  const histories = new Map<string, AuditEntry[]>();
  const states = new Map<string, ExactState>();
  const ledger = new Map<string, UsageRow>();
  const told = new Map<string, GatewayEvent>();
  /** Crossings that were told, by whose they are: those of windows before the newest are forgotten. */
  const marks = new Map<string, readonly ExactCrossing[]>();

  const stateOf = (name: string): ExactState => {
    const state = states.get(name) ?? freshExact();
    states.set(name, state);
    return state;
  };
  const tally = (
    key: string,
    plan: string,
    operation: string,
    atMs: number,
    count: keyof UsageCounts,
    units = 0,
    by = 1,
  ): void => {
    const day = new Date(Math.floor(atMs / DAY_MS) * DAY_MS).toISOString().slice(0, 10);
    const name = [key, plan, operation, day].join(' ');
    const row = ledger.get(name) ?? {
      key,
      plan,
      operation,
      day,
      requests: 0,
      units: 0,
      returned: 0,
      limited: 0,
      banned: 0,
      failed: 0,
    };
    ledger.set(name, { ...row, units: row.units + units, [count]: row[count] + by });
  };
  /** What binds who asks, or why the key is not valid. */
  const termsOf = (subject: Subject, nowMs: number): UnknownReason | Binding => {
    if (subject.kind === 'address') {
      const plan = plans.get(ANONYMOUS_PLAN);
      return plan === undefined ? 'no_plan' : { plan, record: undefined, customerId: null };
    }
    const record = records.get(subject.id);
    const unfit = whyInvalid(record, subject.secretHash, nowMs);
    if (record === undefined || unfit !== undefined) return unfit ?? 'unknown';
    const customerId = customerOf(subject.id);
    const payer = customerId === null ? record : customers.get(customerId);
    if (payer === undefined) return 'unknown';
    if (payer.status !== 'enabled') return payer.status;
    const plan = plans.get(payer.plan);
    if (plan === undefined || (plan.limits === 'custom' && payer.limits === null)) return 'no_plan';
    const { limits, grants = [], credited = 0 } = payer;
    return { plan, record: { ...record, limits, grants, credited }, customerId };
  };
  const tellOnce = (event: GatewayEvent): void => {
    if (!told.has(event.id)) told.set(event.id, event);
  };
  const tellCrossing = (payer: string, key: string, plan: string, atMs: number, crossing: ExactCrossing): void => {
    const { window, startDay, threshold, limit, used } = crossing;
    const known = marks.get(payer) ?? [];
    const isThis = (each: ExactCrossing): boolean =>
      each.window === window && each.startDay === startDay && each.threshold === threshold && each.limit === limit;
    if (known.some(isThis)) return;
    const isOver = (each: ExactCrossing): boolean =>
      window === 'balance' ? each.limit !== limit : each.startDay < startDay;
    marks.set(payer, [...known.filter((each) => each.window !== window || !isOver(each)), crossing]);
    const id = [payer, window, startDay, threshold, limit].join('-');
    const data = { customer: payer === key ? null : payer, key, plan, window, threshold, limit, used };
    tellOnce({ id, type: window === 'balance' ? 'petgate.balance.low' : 'petgate.quota.crossed', atMs, data });
  };
  const tellBan = (key: string, plan: string, atMs: number, untilMs: number, level: number): void => {
    const until = new Date(untilMs).toISOString();
    const [id, reason] = [`${key}-ban-${untilMs}`, 'too many requests after 429'];
    const data = { customer: customerOf(key), key, plan, until, level, reason };
    tellOnce({ id, type: 'petgate.ban.started', atMs, data });
  };
  const admitOne = (request: AdmissionRequest): Verdict => {
    const { subject, operation, nowMs = Date.now() } = request;
    const terms = termsOf(subject, nowMs);
    if (typeof terms === 'string') return { outcome: 'unknown_key', reason: terms };
    const { plan, record, customerId } = terms;
    const own = stateOf(subject.kind === 'key' ? subject.id : `ip ${subject.address}`);
    const state = customerId === null ? own : { ...own, ...payersOwn(stateOf(customerId)) };
    const verdict = decideExactly(state, plan, record, request, nowMs, (crossing) =>
      tellCrossing(customerId ?? record!.id, record!.id, plan.name, nowMs, crossing),
    );
    if (verdict.outcome === 'banned' && verdict.started && record !== undefined)
      tellBan(record.id, plan.name, nowMs, verdict.bannedUntilMs, verdict.level);
    // Of a customer's key strikes and ban are its own.
    if (customerId !== null) Object.assign(own, state, payersOwn(own));
    if (verdict.cost > 0 && subject.kind === 'key') {
      const isAdmitted = verdict.outcome === 'admitted';
      const count = isAdmitted ? 'requests' : verdict.outcome;
      tally(subject.id, plan.name, operation, nowMs, count, isAdmitted ? verdict.cost : 0);
    }
    return verdict;
  };
  const settled = new Map<string, number>();
  const settleOne = ({ keyId, plan, operation, admittedAtMs, isFailed, lease, settlement }: EndedRequest): void => {
    if (isFailed) tally(keyId, plan, operation, admittedAtMs, 'failed');
    if (lease !== undefined) stateOf(customerOf(keyId) ?? keyId).flights.delete(lease);
    if (settlement === undefined) return;
    const { units, windows } = settlement;
    if (units !== 0) tally(keyId, plan, operation, admittedAtMs, units > 0 ? 'units' : 'returned', 0, Math.abs(units));
    settleExactly(stateOf(customerOf(keyId) ?? keyId), windows, units);
  };
  const setBan = (keyId: string, bannedUntilMs: number, banLevel: number): void => {
    Object.assign(stateOf(keyId), { strikes: 0n, sinceMs: 0n, bannedUntilMs: BigInt(bannedUntilMs), banLevel });
  };

  /** Like a store: answers later, and a throw rejects. */
  const later = <T>(answer: () => T): Promise<T> => Promise.resolve().then(answer);

  return {
    name: 'embedded',
    admit: (requests) => Promise.resolve(requests.map(admitOne)),
    renew: () => Promise.reject(new Error('stories last longer than leases')),
    settle: (reports) =>
      later(() => {
        for (const { reporter, number, ended } of reports) {
          if (number <= (settled.get(reporter) ?? 0)) continue;
          settled.set(reporter, number);
          ended.forEach(settleOne);
        }
      }),
    days: { finality: (nowMs) => Promise.resolve(finalityOf([], nowMs, 0)), giveUp: () => Promise.resolve(false) },
    outbox: {
      list: () =>
        later(() => ({
          entries: [...told.values()].map((event) => ({
            ...{ event, attempts: 0, failure: null, dueAtMs: null, deadAtMs: null },
          })),
          cursor: null,
        })),
      delivered: (id) => later(() => void told.delete(id)),
      ...{ claim: unused, postpone: unused, deadLetter: unused, redeliver: unused, read: unused },
      ...{ figures: unused, collect: unused, forgetDead: unused },
    },
    transfer: { rowsBefore: unused, raise: unused, revision: unused },
    sessionSecret: { read: unused, replace: unused, end: unused, hasEnded: unused },
    keys: {
      read: (id) => Promise.resolve(records.get(id)),
      write: (record, entry, change) =>
        later(() => {
          if ((records.get(record.id)?.version ?? 0) !== record.version - 1)
            throw new VersionConflict('changed by somebody else');
          records.set(record.id, record);
          histories.set(record.id, [...(histories.get(record.id) ?? []), entry]);
          const ban = change?.ban;
          if (ban !== undefined) setBan(record.id, ban?.untilMs ?? 0, ban === null ? 0 : 1);
        }),
      get rewrite(): never {
        throw new Error('random stories erase nothing: test/conformance/personal.ts does');
      },
      confirm: () => Promise.resolve(),
      page: (afterId, count) =>
        Promise.resolve(
          [...records.values()]
            .filter((each) => afterId === null || each.id > afterId)
            .sort((a, b) => (a.id < b.id ? -1 : 1))
            .slice(0, count),
        ),
      history: (id) => Promise.resolve(histories.get(id) ?? []),
      ...{ snapshots: unused, restore: unused, corrected: unused },
    },
    customers: {
      ...{ snapshots: unused, restore: unused, corrected: unused },
      read: (id) => Promise.resolve(customers.get(id)),
      write: (record) =>
        later(() => {
          if ((customers.get(record.id)?.version ?? 0) !== record.version - 1)
            throw new VersionConflict('changed by somebody else');
          customers.set(record.id, record);
        }),
      get rewrite(): never {
        throw new Error('random stories erase nothing: test/conformance/personal.ts does');
      },
      confirm: () => Promise.resolve(),
      get page(): never {
        throw new Error('random stories list no customers: test/conformance/customers.ts does');
      },
      get history(): never {
        throw new Error('random stories read no history of customers: test/conformance/customers.ts does');
      },
      get keyCount(): never {
        throw new Error('random stories count no keys: test/conformance/customers.ts does');
      },
    },
    get tokens(): never {
      throw new Error('random stories have no admin tokens: test/conformance/tokens.ts does');
    },
    bans: {
      read: (keyId) =>
        later(() => {
          const { bannedUntilMs, banLevel } = stateOf(keyId);
          return bannedUntilMs > Date.now()
            ? { keyId, untilMs: Number(bannedUntilMs), level: banLevel, note: null }
            : undefined;
        }),
      get inForce(): never {
        throw new Error('random stories count no bans: test/conformance/bans.ts does');
      },
      get keys(): never {
        throw new Error('random stories list no bans: test/conformance/bans.ts does');
      },
      get addresses(): never {
        throw new Error('random stories list no bans: test/conformance/bans.ts does');
      },
      get liftAddress(): never {
        throw new Error('random stories lift no bans of addresses: test/conformance/bans.ts does');
      },
    },
    usage: {
      async *rows(from, to, keyId) {
        yield await later(() =>
          [...ledger.values()].filter(
            (row) => row.day >= from && row.day <= to && (keyId === undefined || row.key === keyId),
          ),
        );
      },
    },
    check: () => Promise.resolve(),
    close: () => Promise.resolve(),
    setPlans(next) {
      plans = next;
    },
  };
}

function unused(): never {
  throw new Error('random stories only read events and forget them: test/conformance/outbox.ts does more');
}

function whyInvalid(record: KeyRecord | undefined, secretHash: string, nowMs: number): UnknownReason | undefined {
  if (record === undefined) return 'unknown';
  if (record.status !== 'enabled') return record.status;
  const secret = record.secrets.find((each) => each.hash === secretHash);
  if (secret === undefined) return 'unknown';
  const ends = [secret.endsAtMs, record.expiresAtMs];
  return ends.some((endMs) => endMs !== null && nowMs >= endMs) ? 'expired' : undefined;
}

/** What keys of a customer share. */
function payersOwn({ windows, flights }: ExactState): Pick<ExactState, 'windows' | 'flights'> {
  return { windows, flights };
}
