import { DAY_MS } from '../../../admission/bucket.js';
import { StoreUnavailable } from '../../../admission/port.js';
import type { FailureReport } from '../../port.js';
import type { Link } from '../link/link.js';
import { MAX_DAYS } from './active-days.js';
import { failureReportsName, keyName, ledgerName, usageField } from '../names.js';
import { loadScript } from '../link/script.js';

/**
 * How long a day's counted reports are remembered after the last one: longer than any report is sent again
 * (failures.ts).
 */
const REMEMBERED_MS = 2 * DAY_MS;

const FAIL = loadScript('ledger/report-failure', { MAX_DAYS });

/**
 * Counts failure reports, each in one step. Rejects with StoreUnavailable if a call failed: `accepted` has the indexes
 * of the counted reports, `notSent` those of the ones that were certainly not counted.
 */
export async function fail(link: Link, reports: readonly FailureReport[], usageDays: number): Promise<void> {
  const [accepted, notSent]: [number[], number[]] = [[], []];
  let reason: string | undefined;
  const run = async (report: FailureReport, index: number): Promise<void> => {
    try {
      await link.run(FAIL, ...callOf(report, usageDays));
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

/** Returns names and arguments of a call: always the same for a report, so that sending it again is harmless. */
function callOf(
  { reporter, number, keyId, day, failures }: FailureReport,
  usageDays: number,
): readonly [names: readonly string[], args: readonly string[]] {
  const counts = new Map<string, number>();
  for (const { plan, operation } of failures) {
    const field = usageField(plan, operation, 'failed');
    counts.set(field, (counts.get(field) ?? 0) + 1);
  }
  const head = [((usageDays + 1) * 86_400).toString(), reporter, number.toString(), REMEMBERED_MS.toString()];
  return [
    [failureReportsName(keyId, day), ledgerName(keyId, day), keyName(keyId)],
    [...head, ...[...counts].flatMap(([field, count]) => [field, count.toString()])],
  ];
}
