import type { AdminClient } from '../../admin/admin-client.js';
import { CommandError } from '../../terminal/command-error.js';
import { dayOf } from '../../../shared/utc-day.js';
import { lastDayOf, monthEndMs } from '../../../shared/utc-month.js';
import { readLedger, type LedgerRow } from '../ledger.js';
import { eventFor, type UsageEvent } from './event.js';
import type { Payers } from './payers.js';

const COUNTED = ['units', 'returned', 'correctedUnits'] as const;
const OWED = ['base', 'included', 'overage', 'amount'] as const;

/** Yields the months after `done`, or from that of `from` if it is null, of which every day is final. */
export function* monthsToSend(done: string | null, from: string, finalDay: string): Generator<string, void> {
  for (let month = done === null ? from.slice(0, 7) : after(done); lastDayOf(month) <= finalDay; month = after(month))
    yield month;
}

/** Resolves to the events of what is owed for a month as of now. Throws CommandError if the month is not final. */
export async function amountsOf(
  client: AdminClient,
  month: string,
  source: string,
  payers: Payers,
): Promise<readonly UsageEvent[]> {
  const events: UsageEvent[] = [];
  const days = { from: `${month}-01`, to: lastDayOf(month), by: 'customer,plan' };
  for await (const row of readLedger(client, { ...days, amounts: 'true', corrections: 'true' })) {
    if (row.get('final') !== 'true')
      throw new CommandError(`${month} is not final by the gateway's clock. Run the same command again later.`);
    events.push(amountEvent(row, month, source, payers));
  }
  return events;
}

function amountEvent(row: LedgerRow, month: string, source: string, payers: Payers): UsageEvent {
  const [payer, plan] = [row.get('customer')!, row.get('plan')!];
  const { currency = '', unknown = '' } = Object.fromEntries(row);
  const known = [...COUNTED, ...(unknown === '' ? OWED : [])].filter((name) => row.has(name));
  return eventFor(`${month}-01`, {
    id: `month=${month}&payer=${payer}&plan=${encodeURIComponent(plan)}`,
    ...{ source, type: 'petgate.usage.amount.v1' },
    subject: payers.subjectOf(payer),
    data: {
      ...{ payer, plan, month },
      ...Object.fromEntries(known.map((name) => [name, figureIn(row.get(name)!)])),
      ...(currency === '' ? {} : { currency }),
      ...(unknown === '' ? {} : { unknown }),
    },
  });
}

function figureIn(text: string): number | string {
  return Number.isSafeInteger(Number(text)) ? Number(text) : text;
}

function after(month: string): string {
  return dayOf(monthEndMs(Date.parse(`${month}-01`))).slice(0, 7);
}
