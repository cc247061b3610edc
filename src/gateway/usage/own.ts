import { addCounts, noCounts } from '../store/records/counts.js';
import { customerOf } from '../store/records/customer-id.js';
import { StoreUnavailable } from '../admission/port.js';
import type { UsageStore } from '../store/port.js';
import type { WindowFigures } from '../admission/bucket.js';
import type { StandingVerdict } from '../admission/verdict.js';
import { commonHeaders } from '../answer.js';
import type { Admitted } from '../exchange.js';
import { REFUSALS, limitReached, type Refusal } from '../refusal.js';
import { createAllowance } from './allowance.js';
import type { BillsSoFar, BillSoFar } from './so-far.js';
import { dayOf } from '../../shared/utc-day.js';

/** Reading usage is free, so this limits floods, in each process. A refusal is not a strike. */
const PER_SECOND = 5;
const BURST = 20;
const MAX_KEYS = 10_000;

/**
 * Serves `GET /v1/usage`: plan and usage of the calling key, windows and ban as admission sees them. For a customer's
 * key, adds `customer` and shows the customer's windows. On a plan with a price, adds `bill` if the store
 * responds in time. Refuses floods with 429; responds with 503 if the store is unavailable.
 */
export function createOwnUsage(
  usage: UsageStore,
  bills: BillsSoFar,
): (exchange: Admitted) => Promise<Refusal | undefined> {
  const refusalOf = createOwnAllowance();
  return async (exchange) => {
    const { verdict, client } = exchange;
    // The operation is secured: every caller has a key.
    const keyId = verdict.keyId ?? '';
    const refusal = refusalOf(keyId);
    if (refusal !== null) return refusal;
    try {
      const body = JSON.stringify(await viewOf(usage, bills, verdict, keyId));
      const headers = commonHeaders(exchange);
      headers.push(
        'Content-Type',
        'application/json',
        'Content-Length',
        String(Buffer.byteLength(body)),
        'Cache-Control',
        'no-store',
      );
      client.send(200, headers, body);
      return undefined;
    } catch (error) {
      if (error instanceof StoreUnavailable) return REFUSALS.store_unavailable;
      throw error;
    }
  };
}

/** Returns a function that gives the refusal for a key that asks too often; null if it may ask. */
export function createOwnAllowance(): (keyId: string) => Refusal | null {
  const allowance = createAllowance(PER_SECOND, BURST, MAX_KEYS);
  return (keyId) => {
    const waitMs = allowance.take(keyId, performance.now());
    return waitMs > 0 ? tooOften(waitMs) : null;
  };
}

async function viewOf(usage: UsageStore, bills: BillsSoFar, verdict: StandingVerdict, keyId: string): Promise<object> {
  const day = dayOf(verdict.atMs);
  const today = noCounts();
  const month = noCounts();
  for await (const rows of usage.rows(`${day.slice(0, 8)}01`, day, keyId)) {
    for (const row of rows) {
      addCounts(month, row);
      if (row.day === day) addCounts(today, row);
    }
  }
  const customer = customerOf(keyId);
  const bill = await bills.of(keyId, verdict.atMs);
  return {
    ...(customer === null ? {} : { customer }),
    plan: verdict.plan,
    windows: Object.fromEntries(verdict.windows.map((window) => [window.name, windowOf(window)])),
    today,
    month,
    ban: verdict.outcome === 'banned' ? { until: seconds(verdict.bannedUntilMs), level: verdict.level } : null,
    ...(bill === null || bill === 'unknown' ? {} : { bill: billOf(bill) }),
  };
}

function windowOf({ limit, remaining, resetAtMs, granted }: WindowFigures): object {
  const window = { limit, remaining, reset: seconds(resetAtMs) };
  if (granted === undefined) return window;
  return { ...window, granted: { units: granted.units, until: seconds(granted.untilMs) } };
}

function billOf({ asOfMs, ...bill }: BillSoFar): object {
  return { ...bill, asOf: seconds(asOfMs) };
}

function seconds(atMs: number): number {
  return Math.ceil(atMs / 1000);
}

/** The headers show this allowance, not the plan's limits. */
function tooOften(waitMs: number): Refusal {
  const waitS = Math.ceil(waitMs / 1000);
  const rates = [
    'X-RateLimit-Limit',
    String(BURST),
    'X-RateLimit-Remaining',
    '0',
    'X-RateLimit-Reset',
    String(Math.ceil(Date.now() / 1000) + waitS),
    'RateLimit',
    `"usage";r=0;t=${waitS}`,
    'RateLimit-Policy',
    `"usage";q=${BURST};w=${BURST / PER_SECOND}`,
  ];
  return { ...limitReached('usage'), rates, retryAfterS: waitS };
}
