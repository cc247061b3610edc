import { withTerms } from '../../accounts/customers/of-key.js';
import type { StandingVerdict } from '../../admission/verdict.js';
import type { Recall, Recalled } from '../../observe/recent/recall.js';
import { addCounts, noCounts, type UsageCounts } from '../../store/records/counts.js';
import type { AdmissionEngine, UsageStore } from '../../store/port.js';
import { customerOf } from '../../store/records/customer-id.js';
import type { KeyRecord } from '../../store/records/key.js';
import type { AuditEntry } from '../../store/records/record.js';
import type { BillsSoFar } from '../../usage/so-far.js';
import { dayOf } from '../../../shared/utc-day.js';

/** Days of usage shown, including today. */
export const DAYS = 31;
const DAY_MS = 86_400_000;
/** Maximum number of a customer's keys and of a key's events shown. */
const MAX_KEYS = 100;
const MAX_EVENTS = 50;
/** How long to wait for the bill: longer than for an API response, because a person waits. */
const BILL_MS = 5_000;

export interface OverviewParts {
  readonly engine: Pick<AdmissionEngine, 'keys' | 'customers'>;
  readonly usage: UsageStore;
  readonly recall: Recall;
  readonly bills: BillsSoFar;
}

/** Everything that a key holder sees of the key: nothing about operators or other customers. */
export interface Overview {
  readonly record: KeyRecord;
  readonly verdict: StandingVerdict;
  /** By day and operation, for the last `DAYS` days. */
  readonly usage: ReadonlyMap<string, ReadonlyMap<string, UsageCounts>>;
  /** What is owed this month: for a customer's key, by the customer. */
  readonly bill: Awaited<ReturnType<BillsSoFar['of']>>;
  /** Null for a key without a customer. */
  readonly customer: HeldCustomer | null;
  /** The key's recent refusals and failures, as far as this gateway remembers them. */
  readonly refusals: Recalled;
  /** The key's history, latest first. */
  readonly events: readonly AuditEntry[];
}

export interface HeldCustomer {
  readonly name: string;
  /** All that are not revoked, including this one. */
  readonly keys: readonly KeyRecord[];
  /** Whether there are others that are not shown. */
  readonly hasMore: boolean;
}

/** Reads the overview; null if the key no longer exists. Rejects with StoreUnavailable. */
export async function readOverview(
  parts: OverviewParts,
  { keyId, verdict }: Pick<Overview, 'verdict'> & { readonly keyId: string },
): Promise<Overview | null> {
  const { engine, usage, recall, bills } = parts;
  const [record, days, customer, history, refusals, bill] = await Promise.all([
    engine.keys.read(keyId),
    usageOf(usage, keyId, verdict.atMs),
    readCustomer(engine, customerOf(keyId)),
    engine.keys.history(keyId),
    recall({ key: keyId }),
    bills.of(keyId, verdict.atMs, BILL_MS),
  ]);
  if (record === undefined) return null;
  const [held = record] = await withTerms(engine.customers, [record]);
  const events = history.slice(-MAX_EVENTS).toReversed();
  return { record: held, verdict, usage: days, bill, customer, refusals, events };
}

async function usageOf(store: UsageStore, keyId: string, nowMs: number): Promise<Overview['usage']> {
  const days = new Map<string, Map<string, UsageCounts>>();
  for (let ago = DAYS - 1; ago >= 0; ago -= 1) days.set(dayOf(nowMs - ago * DAY_MS), new Map());
  const [first = ''] = days.keys();
  for await (const rows of store.rows(first, dayOf(nowMs), keyId)) {
    for (const row of rows) {
      const operations = days.get(row.day);
      const counts = operations?.get(row.operation) ?? noCounts();
      addCounts(counts, row);
      operations?.set(row.operation, counts);
    }
  }
  return days;
}

async function readCustomer(
  { keys, customers }: OverviewParts['engine'],
  id: string | null,
): Promise<HeldCustomer | null> {
  const customer = id === null ? undefined : await customers.read(id);
  if (customer === undefined) return null;
  const page = await keys.page(customer.id, MAX_KEYS + 1);
  // The page may go on with keys of the next customer.
  const own = page.filter((key) => customerOf(key.id) === customer.id);
  return {
    name: customer.name,
    keys: own.slice(0, MAX_KEYS).filter(({ status }) => status !== 'revoked'),
    hasMore: own.length > MAX_KEYS,
  };
}
