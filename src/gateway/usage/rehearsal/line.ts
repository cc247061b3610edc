import { bucketOf } from '../../edge/client-address.js';
import { payerOf } from '../../store/records/customer-id.js';

/** A window after the decision. Limit and remaining are null if unlimited; times are ms from the decision. */
export type LoggedWindow = readonly [
  limit: number | null,
  remaining: number | null,
  resetMs: number,
  granted?: number,
  grantedMs?: number,
];

interface LoggedBan {
  readonly ms: number;
  readonly level: number;
  readonly started: boolean;
}

/** A decision, read from an access line. */
export interface LoggedDecision {
  /** Request ID and end of the exchange: clients may choose request IDs, so these repeat. */
  readonly id: string;
  readonly atMs: number;
  readonly outcome: 'admitted' | 'limited' | 'banned';
  /** Null for an address. */
  readonly keyId: string | null;
  /** The customer, key or address whose buckets decided. */
  readonly payer: string;
  readonly plan: string;
  readonly operation: string;
  /** Units under the original plan, and by the contract. */
  readonly cost: number;
  readonly contractCost: number;
  /** What the response cost in the end; null if the cost was fixed. */
  readonly settled: number | null;
  readonly windows: Readonly<Record<string, LoggedWindow>>;
  readonly ban: LoggedBan | null;
  readonly local: boolean;
  /** Whether the log is a sample. */
  readonly sampled: boolean;
}

/**
 * `free`: it cost nothing. `undecided`: the store did not decide. `old`: written by a version that logged no decisions.
 * `strange`: not an access line, or with invalid fields.
 */
type Unusable = 'free' | 'undecided' | 'old' | 'strange';

/** Fields of a line, not validated. */
type Fields = Readonly<Record<string, unknown>>;

const OUTCOMES: readonly unknown[] = ['admitted', 'limited', 'banned'] satisfies LoggedDecision['outcome'][];

export function decisionIn(line: Fields): LoggedDecision | Unusable {
  const { msg, outcome, decidedAt, key, plan, operation, address, cost, contractCost, windows, ban } = line;
  if (msg !== 'exchange') return 'strange';
  if (!('decidedAt' in line)) return 'old';
  if (decidedAt === null) return 'undecided';
  const atMs = typeof decidedAt === 'string' ? Date.parse(decidedAt) : NaN;
  const isWhole =
    !Number.isNaN(atMs) &&
    OUTCOMES.includes(outcome) &&
    (key === null || typeof key === 'string') &&
    typeof plan === 'string' &&
    typeof operation === 'string' &&
    typeof address === 'string' &&
    isCount(cost) &&
    isCount(contractCost) &&
    areWindows(windows);
  if (!isWhole) return 'strange';
  // Without a valid key, a secured operation costs one unit, not the contract's cost.
  if (key === null ? cost === 0 : contractCost === 0) return 'free';
  return {
    id: `${String(line['request'])} ${String(line['time'])}`,
    atMs,
    outcome: outcome as LoggedDecision['outcome'],
    keyId: key,
    payer: key === null ? bucketOf(address) : payerOf(key),
    plan,
    operation,
    cost,
    contractCost: key === null ? cost : contractCost,
    settled: settledIn(line),
    windows,
    ban: isBan(ban) ? ban : null,
    local: line['local'] === true,
    sampled: line['sampled'] !== undefined,
  };
}

function settledIn({ settled }: Fields): number | null {
  return isCount(settled) ? settled : null;
}

export function isCount(value: unknown): value is number {
  return Number.isSafeInteger(value) && Number(value) >= 0;
}

function areWindows(value: unknown): value is LoggedDecision['windows'] {
  if (typeof value !== 'object' || value === null) return false;
  for (const name in value) {
    const window: unknown = (value as Fields)[name];
    if (!Array.isArray(window)) return false;
    for (const figure of window) if (figure !== null && !Number.isSafeInteger(figure)) return false;
  }
  return true;
}

function isBan(value: unknown): value is LoggedBan {
  if (typeof value !== 'object' || value === null) return false;
  const { ms, level } = value as Partial<LoggedBan>;
  return Number.isSafeInteger(ms) && Number.isSafeInteger(level);
}
