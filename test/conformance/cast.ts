import { randomBytes } from 'node:crypto';
import { DAY_MS, type Limits } from '../../src/gateway/admission/bucket.js';
import type { BanRule, Plan, Plans } from '../../src/gateway/admission/plan.js';
import type { AdmissionRequest, Subject } from '../../src/gateway/admission/port.js';
import { NO_CHANGE, type OutboxChange } from '../../src/gateway/store/outbox/event.js';
import type { AdmissionEngine } from '../../src/gateway/store/port.js';
import type { BanNote, KeyChange, KeyRecord } from '../../src/gateway/store/records/key.js';
import type { UsageRow } from '../../src/gateway/store/records/counts.js';
import { operationTerms } from '../../src/gateway/admission/windows.js';
import type { BannedVerdict, LimitedVerdict, StandingVerdict, Verdict } from '../../src/gateway/admission/verdict.js';
import { CUSTOMER_ID_LENGTH, CUSTOMER_KEY_ID_LENGTH } from '../../src/gateway/store/records/customer-id.js';
import type { CustomerRecord } from '../../src/gateway/store/records/customer.js';
import type { AuditEntry } from '../../src/gateway/store/records/record.js';
import { BAN, NO_BAN } from '../gateway/admission/ban.js';
import { keyRecord } from '../gateway/admission/key-record.js';
import { CREATE, LIST, READ } from './names.js';

function plan(
  name: string,
  limits: Plan['limits'],
  refill: Plan['refill'] = 'interval',
  ban: BanRule = BAN,
): [string, Plan] {
  return [name, { name, limits, refill, ban }];
}

function priced(
  name: string,
  limits: Limits,
  prices: Parameters<typeof operationTerms>[0],
  warnAt?: readonly number[],
): [string, Plan] {
  return [name, { name, limits, refill: 'interval', ban: NO_BAN, operations: operationTerms(prices), warnAt }];
}

function warning(name: string, warnAt: readonly number[]): [string, Plan] {
  return [name, { name, limits: { minute: 60, day: 10 }, refill: 'interval', ban: NO_BAN, warnAt }];
}

function crowd(name: string, concurrency: number): [string, Plan] {
  const limits: Limits = { minute: 100, day: 1_000 };
  return [name, { name, limits, refill: 'interval', ban: { ...BAN, after: 3 }, concurrency }];
}

function prepaid(name: string): [string, Plan] {
  const limits: Limits = { minute: 'unlimited', day: 'unlimited' };
  return [name, { name, limits, refill: 'interval', ban: { ...BAN, after: 3 }, isPrepaid: true, warnAt: [] }];
}

/** The plans every engine under test is opened with. */
export const PLANS: Plans = new Map([
  plan('free', { minute: 60, day: 1_000 }),
  plan('pro', { minute: 300, day: 10_000 }, 'interval', { ...BAN, after: 150 }),
  plan('enterprise', 'custom'),
  plan('anonymous', { minute: 5, day: 12 }, 'interval', { ...BAN, after: 10 }),
  plan('calm', { minute: 3, day: 5 }, 'interval', NO_BAN),
  plan('drip', { minute: 7, day: 1_000 }, 'greedy', NO_BAN),
  plan('trickle', { minute: 10, day: 3 }, 'greedy', NO_BAN),
  plan('open', { minute: 'unlimited', day: 'unlimited' }),
  crowd('crowd', 2),
  prepaid('prepaid'),
  plan('monthly', { minute: 60, day: 1_000, month: 20 }, 'interval', NO_BAN),
  priced(
    'priced',
    { minute: 100, day: 200, month: 1_000 },
    { [CREATE]: { cost: 5, minute: 15, day: 30 }, [READ]: { cost: 0 } },
  ),
  priced('doors', { minute: 100, day: 20 }, { [CREATE]: { cost: 2 }, [READ]: { cost: 0 } }, []),
  warning('quiet', []),
  warning('early', [10, 100]),
  plan('strict', { minute: 1, day: 1_000 }, 'interval', {
    after: 3,
    withinMs: 10_000,
    forMs: 100_000,
    factor: 1.5,
    capMs: 200_000,
  }),
]);

/** Noon of a UTC day to come: a ban that begins then is in force for the real clock too. */
export const NOON_MS = (Math.floor(Date.now() / DAY_MS) + 10) * DAY_MS + DAY_MS / 2;
export const DAY_START_MS = NOON_MS - DAY_MS / 2;

export function dayName(atMs: number): string {
  return new Date(atMs).toISOString().slice(0, 10);
}

/** A key that is in the store, and how one asks with it. */
export interface Actor {
  readonly id: string;
  readonly subject: Subject;
  /** The record as last written. */
  record: KeyRecord;
}

export function freshId(): string {
  return randomBytes(6).toString('hex');
}

export async function newKey(engine: AdmissionEngine, plan: string, changes: Partial<KeyRecord> = {}): Promise<Actor> {
  const id = changes.id ?? freshId();
  const secretHash = randomBytes(32).toString('base64url');
  const record = keyRecord(id, {
    plan,
    createdAtMs: DAY_START_MS,
    secrets: [{ hash: secretHash, endsAtMs: null }],
    ...changes,
  });
  await engine.keys.write(record, { atMs: DAY_START_MS, action: 'created', changed: { plan } });
  return { id, subject: { kind: 'key', id, secretHash }, record };
}

export function freshCustomerId(): string {
  return randomBytes(CUSTOMER_ID_LENGTH / 2).toString('hex');
}

export async function newCustomer(
  engine: AdmissionEngine,
  plan: string,
  changes: Partial<CustomerRecord> = {},
): Promise<CustomerRecord> {
  const record: CustomerRecord = {
    id: freshCustomerId(),
    name: 'a customer',
    reference: '',
    plan,
    limits: null,
    note: '',
    status: 'enabled',
    createdAtMs: DAY_START_MS,
    version: 1,
    ...changes,
  };
  await engine.customers.write(record, { atMs: DAY_START_MS, action: 'created', changed: { plan } });
  return record;
}

export async function changeCustomer(
  engine: AdmissionEngine,
  record: CustomerRecord,
  changes: Partial<CustomerRecord>,
): Promise<CustomerRecord> {
  const next = { ...record, ...changes, version: record.version + 1 };
  await engine.customers.write(next, { atMs: DAY_START_MS, action: 'changed', changed: changes });
  return next;
}

/** A key of a customer: without plan and limits. */
export function keyOf(engine: AdmissionEngine, customerId: string, changes: Partial<KeyRecord> = {}): Promise<Actor> {
  const rest = randomBytes((CUSTOMER_KEY_ID_LENGTH - CUSTOMER_ID_LENGTH) / 2).toString('hex');
  return newKey(engine, '', { id: customerId + rest, ...changes });
}

export async function change(engine: AdmissionEngine, actor: Actor, changes: Partial<KeyRecord>): Promise<void> {
  const record = { ...actor.record, ...changes, version: actor.record.version + 1 };
  await engine.keys.write(record, { atMs: DAY_START_MS, action: 'changed', changed: changes });
  actor.record = record;
}

/** Bans by hand. Where the whole actor is given, it knows its record from then on. */
export async function startBan(
  engine: Pick<AdmissionEngine, 'keys'>,
  who: Actor | string,
  untilMs: number,
  note: BanNote | null = null,
  events: OutboxChange = NO_CHANGE,
): Promise<void> {
  const changed = { until: new Date(untilMs).toISOString() };
  await writeBan(engine, who, { atMs: DAY_START_MS, action: 'banned', changed }, { ...events, ban: { untilMs, note } });
}

/** False where no ban was in force. */
export async function liftBan(engine: Pick<AdmissionEngine, 'keys' | 'bans'>, who: Actor | string): Promise<boolean> {
  if ((await engine.bans.read(typeof who === 'string' ? who : who.id)) === undefined) return false;
  await writeBan(engine, who, { atMs: DAY_START_MS, action: 'lifted', changed: {} }, { ...NO_CHANGE, ban: null });
  return true;
}

async function writeBan(
  { keys }: Pick<AdmissionEngine, 'keys'>,
  who: Actor | string,
  entry: AuditEntry,
  change: KeyChange,
): Promise<void> {
  const before = typeof who === 'string' ? (await keys.read(who))! : who.record;
  const record = { ...before, version: before.version + 1 };
  await keys.write(record, entry, change);
  if (typeof who !== 'string') who.record = record;
}

export function custom(minute: Limits['minute'], day: Limits['day']): Partial<KeyRecord> {
  return { limits: { minute, day } };
}

interface Ask {
  readonly cost?: number;
  readonly operation?: string;
  readonly scope?: string | null;
}

export function requestOf(
  subject: Subject,
  nowMs: number,
  { cost = 1, operation = LIST, scope = null }: Ask = {},
): AdmissionRequest {
  return { subject, operation, scope, cost, nowMs };
}

export async function ask(
  engine: AdmissionEngine,
  who: Actor | Subject,
  nowMs: number,
  how: Ask = {},
): Promise<Verdict> {
  const [verdict] = await engine.admit([requestOf('subject' in who ? who.subject : who, nowMs, how)]);
  if (verdict === undefined) throw new Error('the engine gave no verdict');
  return verdict;
}

/** Asks `times` in one batch. */
export async function askMany(
  engine: AdmissionEngine,
  who: Actor | Subject,
  times: number,
  nowMs: number,
  how: Ask = {},
): Promise<readonly Verdict[]> {
  const subject = 'subject' in who ? who.subject : who;
  return engine.admit(Array.from({ length: times }, () => requestOf(subject, nowMs, how)));
}

export function standing(verdict: Verdict): StandingVerdict {
  if (verdict.outcome === 'unknown_key') throw new Error(`the key is not valid: ${verdict.reason}`);
  return verdict;
}
export function limited(verdict: Verdict): LimitedVerdict {
  if (verdict.outcome !== 'limited') throw new Error(`expected limited, got ${verdict.outcome}`);
  return verdict;
}
export function banned(verdict: Verdict): BannedVerdict {
  if (verdict.outcome !== 'banned') throw new Error(`expected banned, got ${verdict.outcome}`);
  return verdict;
}

export function count(verdicts: readonly Verdict[], outcome: Verdict['outcome']): number {
  return verdicts.filter((verdict) => verdict.outcome === outcome).length;
}

/** Usage rows of a range, in one order for every engine. */
export async function rowsOf(
  engine: AdmissionEngine,
  from: string,
  to: string,
  keyId?: string,
): Promise<readonly UsageRow[]> {
  const rows: UsageRow[] = [];
  for await (const some of engine.usage.rows(from, to, keyId)) rows.push(...some);
  const nameOf = (row: UsageRow): string => [row.key, row.day, row.plan, row.operation].join(' ');
  return rows.sort((a, b) => (nameOf(a) < nameOf(b) ? -1 : 1));
}
