import { DAY_MS, MAX_BALANCE, SHAPES } from '../../../admission/bucket.js';
import { StoreUnavailable } from '../../../admission/port.js';
import { changesOf } from '../../../admission/settlement.js';
import type { EndedRequest, SettlementReport } from '../../port.js';
import type { Link } from '../link/link.js';
import { MAX_DAYS } from './active-days.js';
import { EXCESS, keyName, ledgerName, payerName, settlementsName, usageField } from '../keyspace/names.js';
import { loadScript } from '../link/script.js';

/**
 * How long the numbers of counted reports are kept after a day's last one: longer than any report is sent again
 * (settlements.ts).
 */
const REMEMBERED_MS = 2 * DAY_MS;

const SETTLE = loadScript('ledger/settle', { MAX_BALANCE, MAX_DAYS });

/**
 * Counts reports of ended requests, each in one step. If some may not be counted, the error's `accepted` are the
 * indexes of those that are, and its `notSent` of those that this call certainly has not counted.
 */
export async function settle(link: Link, reports: readonly SettlementReport[], usageDays: number): Promise<void> {
  const [accepted, notSent]: [number[], number[]] = [[], []];
  let reason: string | undefined;
  const run = async (report: SettlementReport, index: number): Promise<void> => {
    try {
      await link.run(SETTLE, ...callOf(report, usageDays));
      accepted.push(index);
    } catch (error) {
      if (!(error instanceof StoreUnavailable)) throw error;
      reason = error.message;
      if (error.noEffect) notSent.push(index);
    }
  };
  await Promise.all(reports.map(run));
  if (reason !== undefined) throw new StoreUnavailable(reason, { accepted, notSent });
}

/** Names and arguments of one call; always the same for the same report. */
function callOf(
  { reporter, number, keyId, day, ended }: SettlementReport,
  usageDays: number,
): readonly [names: readonly string[], args: readonly string[]] {
  const counts = new Map<string, number>();
  const add = ({ plan, operation }: EndedRequest, count: string, more: number): void => {
    const field = usageField(plan, operation, count);
    if (more > 0) counts.set(field, (counts.get(field) ?? 0) + more);
  };
  for (const request of ended) {
    const { isFailed, settlement: { units } = { units: 0 } } = request;
    add(request, 'failed', Number(isFailed));
    add(request, EXCESS, units);
    add(request, 'returned', -units);
  }
  const leases = ended.flatMap(({ lease }) => lease ?? []).join(' ');
  const changes = changesOf(ended.flatMap(({ settlement }) => settlement ?? []));
  const args = [(usageDays + 1) * 86_400, reporter, number, REMEMBERED_MS, counts.size, leases, ...[...counts].flat()];
  for (const { window, units } of changes)
    args.push(window.name, SHAPES[window.per].parts, window.sinceMs, window.refill, units);
  return [[settlementsName(keyId, day), ledgerName(keyId, day), keyName(keyId), payerName(keyId)], args.map(String)];
}
