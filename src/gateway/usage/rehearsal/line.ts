import { bucketOf } from '../../edge/client-address.js';
import { payerOf } from '../../store/records/customer-id.js';

/**
 * Limit and remaining (both null without a limit), ms until it is whole; what of it is granted, and for how many ms.
 */
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

/** One decision as an access line has it. */
export interface LoggedDecision {
  /** Of the exchange: its request id, which clients may choose, and its end. */
  readonly id: string;
  readonly atMs: number;
  readonly outcome: 'admitted' | 'limited' | 'banned';
  /** Null of an address. */
  readonly keyId: string | null;
  /** Whose buckets were asked. */
  readonly payer: string;
  readonly plan: string;
  readonly operation: string;
  /** Units by the plan of then, and by the contract. */
  readonly cost: number;
  readonly contractCost: number;
  readonly windows: Readonly<Record<string, LoggedWindow>>;
  readonly ban: LoggedBan | null;
  readonly local: boolean;
  /** The log leaves lines out. */
  readonly sampled: boolean;
}

/**
 * `free`: it asked for nothing and took nothing. `undecided`: the store decided nothing. `old`: of a version that wrote
 * too little. `strange`: no access line.
 */
type Unusable = 'free' | 'undecided' | 'old' | 'strange';

/** Fields of a line, whatever they hold. */
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
  // Who shows no valid key pays one unit, whatever was asked for.
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
    windows,
    ban: isBan(ban) ? ban : null,
    local: line['local'] === true,
    sampled: line['sampled'] !== undefined,
  };
}

function isCount(value: unknown): value is number {
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
