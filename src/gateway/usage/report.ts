import type { UsageRow } from '../store/records/counts.js';
import { CUSTOMER_ID_LENGTH, customerOf } from '../store/records/customer-id.js';
import type { Accounts } from '../store/ledger.js';
import { areCorrected } from '../store/records/correction.js';
import type { UsageStore } from '../store/port.js';
import { Amounts } from './amounts/payer-rows.js';
import { withCorrections } from './grouping/with-corrections.js';
import { Groups, type Ledger } from './grouping/groups.js';
import type { ReportRange } from './grouping/range.js';
import type { Report, ReportEnd } from './grouping/report-rows.js';

/** Sums up a ledger. Returns the range with whether there are corrections. @param accounts for them and for amounts */
export async function reportOn(
  asked: ReportRange,
  counted: Ledger,
  accounts?: Accounts,
): Promise<{ readonly range: ReportRange; readonly report: Report }> {
  const isCorrected = accounts !== undefined && asked.corrections !== false && (await areCorrected(accounts));
  const range = { ...asked, corrections: isCorrected };
  const ledger = isCorrected ? withCorrections(counted, accounts, range) : counted;
  if (range.days !== true) return { range, report: sumsOf(range, ledger, accounts) };
  const days = new Groups({ ...range, by: ['day', 'plan'] });
  const { rows, end } = sumsOf(range, countedIn(days, ledger), accounts);
  return { range, report: { rows, end: () => ({ ...end(), days: days.flush() }) } };
}

async function* countedIn(groups: Groups, ledger: Ledger): AsyncGenerator<readonly UsageRow[], void> {
  for await (const batch of ledger) {
    groups.take(batch);
    yield batch;
  }
}

function sumsOf(range: ReportRange, ledger: Ledger, accounts?: Accounts): Report {
  const sums = range.prices !== undefined && accounts !== undefined ? new Amounts(range, accounts) : new Groups(range);
  const end = (): ReportEnd => ({
    totals: {
      ...sums.totals,
      ...(range.corrections === true ? sums.corrected : {}),
      ...(sums instanceof Amounts ? { ...sums.money.view(), amounts: sums.money.byCurrency() } : {}),
    },
  });
  return { rows: sums.rows(ledger), end };
}

export function ledgerOf(
  { from, to, key, customer }: Pick<ReportRange, 'from' | 'to' | 'key' | 'customer'>,
  usage: UsageStore,
): Ledger {
  // The IDs of a customer's keys begin with its own.
  const rows = usage.rows(from, to, key, customer);
  return customer === undefined ? rows : rowsOfCustomer(rows, customer);
}

/** Yields the rows of a customer's keys from rows in the order of IDs. Stops reading after them. */
async function* rowsOfCustomer(rows: Ledger, customer: string): AsyncGenerator<readonly UsageRow[], void> {
  for await (const batch of rows) {
    const own = batch.filter(({ key }) => customerOf(key) === customer);
    if (own.length > 0) yield own;
    if ((batch.at(-1)?.key ?? '').slice(0, CUSTOMER_ID_LENGTH) > customer) return;
  }
}
