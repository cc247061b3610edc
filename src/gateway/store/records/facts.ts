import { monthStartMs } from '../../../shared/utc-month.js';
import { DAY_MS, type WindowFigures } from '../../admission/bucket.js';
import { customerOf } from './customer-id.js';
import { GATEWAY, type AuditEntry } from './record.js';
import type { AdmittedVerdict } from '../../admission/verdict.js';
import { AFTER_REFUSALS, type EventData, type GatewayEvent, type WarnedWindow } from '../outbox/event.js';

/** A share of a limit that a request crossed. */
export interface Crossing {
  readonly window: WarnedWindow;
  /** The UTC day on which the window began, days since 1970-01-01; 0 for a balance. */
  readonly startDay: number;
  /** Percent. */
  readonly threshold: number;
  /** Units, like `used`: what was used after the request. */
  readonly limit: number;
  readonly used: number;
}

/**
 * Returns the shares in `warnAt` (percent) of the day, month and balance that this request crossed; most requests cross
 * none.
 */
export function crossingsOf({ windows, cost, atMs }: AdmittedVerdict, warnAt: readonly number[]): readonly Crossing[] {
  let found = NONE;
  for (const window of windows) {
    const crossed = crossingsIn(window, cost, atMs, warnAt);
    if (crossed.length > 0) found = [...found, ...crossed];
  }
  return found;
}

const NONE: readonly Crossing[] = [];

function crossingsIn(
  { name: window, limit, remaining }: WindowFigures,
  cost: number,
  atMs: number,
  warnAt: readonly number[],
): readonly Crossing[] {
  if ((window !== 'day' && window !== 'month' && window !== 'balance') || limit === 'unlimited') return NONE;
  const [lowest] = warnAt;
  if (lowest === undefined || limit - remaining < levelOf(limit, lowest)) return NONE;
  // `remaining` is in whole units: a partly used unit counts as used.
  const isCrossed = (threshold: number): boolean => {
    const left = limit - levelOf(limit, threshold);
    return remaining <= left && left < remaining + cost;
  };
  const startDay = window === 'balance' ? 0 : Math.floor((window === 'day' ? atMs : monthStartMs(atMs)) / DAY_MS);
  return warnAt.filter(isCrossed).map((threshold) => ({ window, startDay, threshold, limit, used: limit - remaining }));
}

/** Returns a share of a limit in units, rounded up. */
function levelOf(limit: number, percent: number): number {
  return Math.ceil((limit * percent) / 100);
}

/**
 * The ID names what was crossed, so it is the same however often the event is emitted. It includes the limit, because
 * crossing another limit is another event.
 * @param payer the customer, or the key if it has none
 */
export function crossedEvent(
  payer: string,
  key: string,
  plan: string,
  { window, startDay, threshold, limit, used }: Crossing,
  atMs: number,
): GatewayEvent {
  return {
    id: `${payer}-${window}-${startDay}-${threshold}-${limit}`,
    type: window === 'balance' ? 'petgate.balance.low' : 'petgate.quota.crossed',
    atMs,
    data: { ...aboutKey(key), plan, window, threshold, limit, used },
  };
}

/** @param reason null if the operator gave none; absent for an automatic ban */
export function banEvent(
  key: string,
  plan: string,
  { untilMs, level, reason = AFTER_REFUSALS }: { untilMs: number; level: number; reason?: string | null },
  atMs: number,
): GatewayEvent {
  return {
    id: `${key}-ban-${untilMs}`,
    type: 'petgate.ban.started',
    atMs,
    data: { ...aboutKey(key), plan, until: new Date(untilMs).toISOString(), level, reason },
  };
}

/** Returns the history entry of an automatic ban; its actor is the gateway. */
export function automaticBan({ atMs, data: { until, level, plan, reason } }: GatewayEvent): AuditEntry {
  return { atMs, actor: GATEWAY, action: 'banned', changed: { until, level, plan, reason } };
}

export function aboutKey(key: string): Pick<EventData, 'customer' | 'key'> {
  return { customer: customerOf(key), key };
}
