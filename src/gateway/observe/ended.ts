import type { Plans } from '../admission/plan.js';
import { windowsOfHold } from '../admission/settlement.js';
import type { StandingVerdict } from '../admission/verdict.js';
import type { ExchangeLog } from '../exchange.js';
import type { EndedRequest } from '../store/port.js';
import { unitsOf } from '../upstream/meter.js';

/** Like any request that the gateway refuses once it is admitted. */
const NOT_SENT = 1;

/**
 * Returns what the end of an exchange changes in the ledger; null if nothing. Sets `settled` of its log entry if its
 * hold is settled. Addresses have no ledger: they pay the hold.
 */
export function endedRequest(logEntry: ExchangeLog, status: number, plans: Plans): EndedRequest | null {
  const { counted, verdict, operation, late, meter } = logEntry;
  // Also if nothing is settled: it frees memory.
  const figure = meter === null ? null : meter.end();
  if (counted !== true || verdict === null || verdict.keyId === null) return null;
  const { keyId, plan, cost, atMs } = verdict;
  logEntry.settled = settledUnits(logEntry, figure, verdict, plans);
  const isFailed = status >= 500 || late !== null;
  const units = (logEntry.settled ?? cost) - cost;
  const lease = verdict.outcome === 'admitted' ? verdict.lease : undefined;
  if (units === 0 && !isFailed && lease === undefined) return null;
  return {
    ...{ keyId, plan, operation, admittedAtMs: atMs, isFailed },
    ...(verdict.local === true ? { isLocal: true as const } : {}),
    ...(lease === undefined ? {} : { lease }),
    ...(units === 0 ? {} : { settlement: { units, windows: windowsOfHold(verdict) } }),
  };
}

/** Returns what a response cost; null if that was fixed, by the contract or by the plan. */
function settledUnits(
  { metered, meter, tunnel, operation }: ExchangeLog,
  figure: number | null,
  { plan, cost }: StandingVerdict,
  plans: Plans,
): number | null {
  if (metered === null || typeof plans.get(plan)?.operations?.get(operation)?.cost === 'number') return null;
  if (meter === null) return NOT_SENT;
  const ofTunnel = tunnel !== null && 'bytes' in metered.from ? unitsOf(tunnel.bytesOut / metered.from.bytes) : null;
  return ofTunnel ?? figure ?? (metered.missing === 'hold' ? cost : 0);
}
