import { existsSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import type { AdminClient } from '../../client.js';
import { CommandError } from '../../command-error.js';
import { dayOf } from '../../../shared/utc-day.js';
import { lastDayOf } from '../../../shared/utc-month.js';
import { readLedger, type LedgerRow } from '../ledger.js';
import type { UsageEvent } from './event.js';
import type { Payers } from './payers.js';
import { syncFolderOf } from './state.js';

const COUNTED = ['units', 'returned', 'correctedUnits'] as const;
const OWED = ['base', 'included', 'overage', 'amount'] as const;

/** Returns the months after `done`, or from that of `from` if it is null, of which every day is final. */
export function monthsToSend(done: string | null, from: string, finalDay: string): readonly string[] {
  const months: string[] = [];
  for (let month = done === null ? from.slice(0, 7) : after(done); lastDayOf(month) <= finalDay; month = after(month))
    months.push(month);
  return months;
}

/** Returns whether the amounts of a month are saved: an event ID keeps its content, whatever is corrected later. */
export function areFixed(file: string): boolean {
  return existsSync(file);
}

/** Resolves to the events of what is owed for a month as of now. Throws CommandError if the month is not final. */
export async function amountsOf(
  client: AdminClient,
  month: string,
  source: string,
  payerOf: Payers,
): Promise<readonly UsageEvent[]> {
  const events: UsageEvent[] = [];
  const days = { from: `${month}-01`, to: lastDayOf(month), by: 'customer,plan' };
  for await (const row of readLedger(client, { ...days, amounts: 'true', corrections: 'true' })) {
    if (row.get('final') !== 'true')
      throw new CommandError(`${month} is not final by the gateway's clock. Run the same command again later.`);
    events.push(amountEvent(row, month, source, payerOf));
  }
  return events;
}

export function fixAmounts(file: string, events: readonly UsageEvent[]): void {
  writeFileSync(`${file}.tmp`, JSON.stringify(events), { mode: 0o600, flush: true });
  renameSync(`${file}.tmp`, file);
  syncFolderOf(file);
}

export function fixedAmounts(file: string): readonly UsageEvent[] {
  return JSON.parse(readFileSync(file, 'utf8')) as readonly UsageEvent[];
}

export function forgetAmounts(file: string): void {
  rmSync(file, { force: true });
}

function amountEvent(row: LedgerRow, month: string, source: string, payerOf: Payers): UsageEvent {
  const [payer, plan, currency = '', unknown = ''] = [
    row.get('customer')!,
    row.get('plan')!,
    row.get('currency'),
    row.get('unknown'),
  ];
  const known = [...COUNTED, ...(unknown === '' ? OWED : [])].filter((name) => row.has(name));
  return {
    specversion: '1.0',
    id: `month=${month}&payer=${payer}&plan=${encodeURIComponent(plan)}`,
    source,
    type: 'petgate.usage.amount.v1',
    subject: payerOf.customer(payer),
    time: `${month}-01T00:00:00Z`,
    datacontenttype: 'application/json',
    data: {
      ...{ payer, plan, month },
      ...Object.fromEntries(known.map((name) => [name, figureIn(row.get(name) ?? '0')])),
      ...(currency === '' ? {} : { currency }),
      ...(unknown === '' ? {} : { unknown }),
    },
  };
}

function figureIn(text: string): number | string {
  return Number.isSafeInteger(Number(text)) ? Number(text) : text;
}

function after(month: string): string {
  const [year, number] = month.split('-').map(Number) as [number, number];
  return dayOf(Date.UTC(year, number)).slice(0, 7);
}
