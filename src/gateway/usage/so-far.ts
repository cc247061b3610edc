import { setTimeout as pause } from 'node:timers/promises';
import { pricesOf, type Plans } from '../admission/plan.js';
import type { AdmissionEngine } from '../store/port.js';
import { netUnits, type UsageRow } from '../store/records/counts.js';
import { CUSTOMER_ID_LENGTH, payerOf } from '../store/records/customer-id.js';
import { DAY_MS, dayOf } from '../../shared/utc-day.js';
import { monthEndMs, monthStartMs } from '../../shared/utc-month.js';
import { withCorrections } from './grouping/with-corrections.js';
import type { Ledger, ReportRow } from './grouping/groups.js';
import { ledgerOf } from './report.js';
import type { MoneyView } from './grouping/money-view.js';
import { Amounts } from './amounts/payer-rows.js';

/** How long a sum is reused, because a customer's sum reads all its keys. */
const KEPT_MS = 60_000;
/** Maximum number of sums kept; beyond it, the oldest is dropped. */
const MAX_KEPT = 1_000;
/** A customer with more keys gets no bill, because adding them up takes too long. */
const MAX_KEYS = 1_000;
/** How long a response waits for a sum. A late one is still completed, for the next request. */
const WAIT_MS = 250;

/** The bill for the current month, assuming the payer keeps its plan to the end. */
export interface BillSoFar extends MoneyView {
  /** Including corrections. */
  readonly units: number;
  /** Unix ms. */
  readonly asOfMs: number;
}

interface Sum {
  readonly asOfMs: number;
  readonly bill: Promise<BillSoFar | null>;
}

type Store = Pick<AdmissionEngine, 'usage' | 'keys' | 'customers'>;

/** Computes bills for the current month; for a customer's key, the customer's bill. */
export class BillsSoFar {
  readonly #store: Store;
  readonly #plans: () => Plans;
  readonly #sums = new Map<string, Sum>();

  constructor(store: Store, plans: () => Plans) {
    this.#store = store;
    this.#plans = plans;
  }

  /**
   * Returns a bill at most a minute old. Null if no plan involved has a price; `unknown` if the bill takes longer than
   * `waitMs`, the customer has too many keys, the plans file lacks its plan, or the store fails.
   */
  async of(keyId: string, nowMs: number, waitMs = WAIT_MS): Promise<BillSoFar | 'unknown' | null> {
    if ([...this.#plans().values()].every(({ price }) => price === undefined)) return null;
    const bill = this.#sumOf(payerOf(keyId), nowMs);
    return Promise.race([bill.catch(() => 'unknown' as const), pause(waitMs, 'unknown' as const)]);
  }

  #sumOf(payer: string, nowMs: number): Promise<BillSoFar | null> {
    const known = this.#sums.get(payer);
    if (known !== undefined && known.asOfMs >= Math.max(nowMs - KEPT_MS, monthStartMs(nowMs))) return known.bill;
    const next: Sum = { asOfMs: nowMs, bill: this.#addUp(payer, nowMs) };
    this.#sums.delete(payer);
    this.#sums.set(payer, next);
    if (this.#sums.size > MAX_KEPT) this.#sums.delete(this.#sums.keys().next().value!);
    next.bill.catch((error: unknown) => {
      if (!(error instanceof NoBill) && this.#sums.get(payer) === next) this.#sums.delete(payer);
    });
    return next.bill;
  }

  async #addUp(payer: string, asOfMs: number): Promise<BillSoFar | null> {
    const [from, to] = [dayOf(monthStartMs(asOfMs)), dayOf(monthEndMs(asOfMs) - DAY_MS)];
    const asked = { from, to, ...(payer.length === CUSTOMER_ID_LENGTH ? { customer: payer } : { key: payer }) };
    const counted = limitKeys(MAX_KEYS, ledgerOf(asked, this.#store.usage));
    const prices = pricesOf(this.#plans());
    const amounts = new Amounts({ ...asked, by: ['customer'], prices, openFrom: from }, this.#store);
    let row: ReportRow | undefined;
    for await (const [first] of amounts.rows(withCorrections(counted, this.#store, asked))) row ??= first;
    if (row?.currency === undefined) {
      if (row?.unknown !== undefined) throw new NoBill(row.unknown);
      return null;
    }
    const { currency, base, included, overage, amount, unknown } = row;
    const units = netUnits(amounts.totals) + amounts.corrected.correctedUnits;
    return { currency, base, included, units, overage, amount, unknown, asOfMs };
  }
}

/** The bill stays unknown: too many keys to add up in a request, or a plan that is not in the plans file. */
class NoBill extends Error {}

async function* limitKeys(max: number, rows: Ledger): AsyncGenerator<readonly UsageRow[], void> {
  let [count, last] = [0, ''];
  for await (const batch of rows) {
    for (const { key } of batch) {
      if (key === last) continue;
      [count, last] = [count + 1, key];
      if (count > max) throw new NoBill(`more than ${max} keys`);
    }
    yield batch;
  }
}
