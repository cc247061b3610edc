import { isoOf } from '../../../shared/utc-day.js';
import type { WindowFigures } from '../../admission/bucket.js';
import type { StandingVerdict } from '../../admission/verdict.js';
import { customerOf } from '../../store/records/customer-id.js';
import { CATALOGUE } from '../../refusals/catalogue.js';
import { REASONS } from '../../refusals/reasons.js';
import type { RefusalCode } from '../../refusal.js';
import type { RecentExchange } from './exchange.js';

/** Returns a remembered exchange as operators see it. Times are ISO 8601. */
export function exchangeView(exchange: RecentExchange) {
  const { id, traceparent, keyId, verdict, refusal, endedMs } = exchange;
  const { method, operation, address, credential, status, code, counted, bytes, upstream } = exchange;
  return {
    request: id,
    trace: traceparent.slice(3, 35),
    /** By the store's clock; null if it decided nothing. */
    decided: verdict === null ? null : isoOf(verdict.atMs),
    /** By the clock of the gateway's machine. */
    ended: new Date(endedMs).toISOString(),
    key: keyId,
    customer: keyId === null ? null : customerOf(keyId),
    ...{ address, method, operation, plan: verdict?.plan ?? null },
    outcome: verdict?.outcome ?? null,
    ...{ status, code, message: refusal === null ? null : messageIn(refusal), credential },
    /** What was wrong with the upstream's response. */
    reason: exchange.reason === null ? null : REASONS[exchange.reason],
    /** The setting that would change the outcome. */
    setting: settingOf(exchange),
    ...refusedBy(verdict),
    windows: (verdict?.windows ?? []).map(windowView),
    ...{ cost: verdict?.cost ?? null, counted, upstream, bytes },
    ...{ ms: exchange.totalMs, admissionMs: exchange.admissionMs, upstreamMs: exchange.upstreamMs },
  };
}

function settingOf({ setting, code, status, upstream }: RecentExchange): string | null {
  if (setting !== null || code !== null) return setting ?? CATALOGUE[code as RefusalCode].setting;
  // The gateway passed on the upstream's own response.
  return status >= 400 && upstream !== null ? `errors of the upstream ${upstream}, which sent this response` : null;
}

/** Returns why the store refused, and until when. */
function refusedBy(verdict: StandingVerdict | null) {
  const isLimited = verdict?.outcome === 'limited';
  return {
    violated: isLimited ? verdict.violated : null,
    ban:
      verdict?.outcome === 'banned'
        ? { until: new Date(verdict.bannedUntilMs).toISOString(), level: verdict.level, started: verdict.started }
        : null,
    /** The earliest time a retry can succeed; null also if none can, because a window's limit is below the cost. */
    retryAt:
      verdict === null || verdict.outcome === 'admitted' || (isLimited && verdict.exceeds)
        ? null
        : isoOf(verdict.retryAtMs),
  };
}

/** Returns a window's figures after a decision; a balance never resets. */
export function windowView({ name, per, limit, remaining, resetAtMs }: WindowFigures) {
  const reset = per === 'balance' ? null : isoOf(resetAtMs);
  return { window: name, limit, remaining: limit === 'unlimited' ? null : remaining, reset };
}

function messageIn(refusal: string): string {
  return (JSON.parse(refusal) as { readonly message: string }).message;
}
