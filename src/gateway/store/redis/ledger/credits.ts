import { DAY_MS } from '../../../admission/bucket.js';
import { StoreUnavailable } from '../../../admission/port.js';
import type { Credit } from '../../port.js';
import type { Link } from '../link/link.js';
import { MAX_DAYS } from './active-days.js';
import { creditsName, keyName, ledgerName, usageField } from '../names.js';
import { loadScript } from '../link/script.js';

/** How long after a day's last credit it is remembered which were taken: longer than any is offered (failures.ts). */
const REMEMBERED_MS = 2 * DAY_MS;

const FAIL = loadScript('ledger/credit', { MAX_DAYS });

/**
 * Counts credits, each in one step. When some may not be counted, the error's `taken` are those that are, and
 * its `notSent` those that this call certainly has not counted.
 */
export async function fail(link: Link, credits: readonly Credit[], usageDays: number): Promise<void> {
  const [taken, notSent]: [number[], number[]] = [[], []];
  let reason: string | undefined;
  const run = async (credit: Credit, place: number): Promise<void> => {
    try {
      await link.run(FAIL, ...callOf(credit, usageDays));
      taken.push(place);
    } catch (error) {
      if (!(error instanceof StoreUnavailable)) throw error;
      reason = error.message;
      if (error.noEffect) notSent.push(place);
    }
  };
  await Promise.all(credits.map(run));
  if (reason !== undefined) throw new StoreUnavailable(reason, { taken, notSent });
}

/** Names and arguments of one call; the same again for the same credit. */
function callOf(
  { teller, number, keyId, day, failures }: Credit,
  usageDays: number,
): readonly [names: readonly string[], args: readonly string[]] {
  const counts = new Map<string, number>();
  for (const { plan, operation } of failures) {
    const field = usageField(plan, operation, 'failed');
    counts.set(field, (counts.get(field) ?? 0) + 1);
  }
  const head = [((usageDays + 1) * 86_400).toString(), teller, number.toString(), REMEMBERED_MS.toString()];
  return [
    [creditsName(keyId, day), ledgerName(keyId, day), keyName(keyId)],
    [...head, ...[...counts].flatMap(([field, count]) => [field, count.toString()])],
  ];
}
