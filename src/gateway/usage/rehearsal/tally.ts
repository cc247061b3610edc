import type { MoneyView } from '../grouping/money-view.js';
import { isOwedOtherwise, type Bills, type Owed } from './bills.js';
import type { Rehearsed } from './replay.js';
import type { Doubt } from './subjects.js';

/** Requests by outcome, and the units admitted. */
export interface Counts {
  admitted: number;
  limited: number;
  banned: number;
  units: number;
}

/** Figures of a plan, or of one customer (or key without one) on it. */
export interface Row {
  readonly plan: string;
  /** ID of the customer, or of a key that has none; null for the whole plan. */
  readonly payer: string | null;
  readonly before: Counts;
  readonly after: Counts;
  /** Absent if no plan has a price. */
  readonly owed?: Owed | undefined;
}

/** A key's first request that the log admitted and the new plans refuse. */
export interface FirstRefusal {
  readonly key: string;
  readonly payer: string;
  readonly plan: string;
  readonly at: string;
  readonly operation: string;
  readonly outcome: string;
  /** The window that refuses; null for a ban. */
  readonly window: string | null;
  /** Number of the key's admitted requests that the new plans refuse. */
  requests: number;
}

/** A plan's row, and the rows of its payers by ID. */
interface OnPlan {
  readonly all: Row;
  readonly payers: Map<string, Row>;
}

/** The result of a rehearsal. */
export interface Sums {
  readonly from: string | null;
  readonly to: string | null;
  readonly different: number;
  /** How many of these may differ for another reason than the plans. */
  readonly doubtful: Readonly<Partial<Record<Doubt, number>>>;
  readonly plans: readonly Row[];
  /** Payers whose figures change, those that lose most requests first. */
  readonly payers: readonly Row[];
  /** In the order of time. */
  readonly refused: readonly FirstRefusal[];
  /** Number of keys that are refused but not listed. */
  readonly refusedUnlisted: number;
  /** Known sums by currency; absent if no plan has a price. */
  readonly owed?: Owed<readonly MoneyView[]> | undefined;
}

/** Maximum number of refused keys to list. */
const MAX_LISTED = 10_000;

const COUNTED = ['admitted', 'limited', 'banned', 'units'] as const;

/** Sums up what the new plans change, in one row per plan and payer. */
export class Tally {
  readonly #plans = new Map<string, OnPlan>();
  readonly #refused = new Map<string, FirstRefusal>();
  readonly #unlisted = new Set<string>();
  readonly #doubtful: Partial<Record<Doubt, number>> = {};
  readonly #bills: Bills | null;
  #different = 0;
  #firstMs = Infinity;
  #lastMs = -Infinity;

  constructor(bills: Bills | null) {
    this.#bills = bills;
  }

  add({ line, verdict, doubt }: Rehearsed): void {
    const { plan, payer, keyId, outcome, cost, contractCost, settled, atMs } = line;
    if (atMs < this.#firstMs) this.#firstMs = atMs;
    if (atMs > this.#lastMs) this.#lastMs = atMs;
    const before = outcome === 'admitted' ? (settled ?? cost) : 0;
    // A plan's own cost is fixed. It is unknown what a refused request would have cost, so its hold counts.
    const charged = verdict.cost === contractCost ? (settled ?? verdict.cost) : verdict.cost;
    const after = verdict.outcome === 'admitted' ? charged : 0;
    const { all, payers } = this.#onPlan(plan);
    for (const row of keyId === null ? [all] : [all, rowIn(payers, plan, payer)]) {
      row.before[outcome] += 1;
      row.before.units += before;
      row.after[verdict.outcome] += 1;
      row.after.units += after;
    }
    if (keyId !== null) this.#bills?.add(line, before, after);
    if (verdict.outcome === outcome) return;
    this.#different += 1;
    if (doubt !== null) this.#doubtful[doubt] = (this.#doubtful[doubt] ?? 0) + 1;
    if (outcome === 'admitted') this.#refuse({ line, verdict, doubt });
  }

  end(): Sums {
    const isEmpty = this.#plans.size === 0;
    const payers = this.#changed();
    const plans = [...this.#plans.values()].map(({ all }) => ({ ...all, owed: this.#bills?.owedOn(all.plan) }));
    return {
      from: isEmpty ? null : new Date(this.#firstMs).toISOString(),
      to: isEmpty ? null : new Date(this.#lastMs).toISOString(),
      different: this.#different,
      doubtful: this.#doubtful,
      plans: plans.sort((one, other) => compare(one.plan, other.plan)),
      payers,
      refused: [...this.#refused.values()].sort((one, other) => compare(one.at, other.at)),
      refusedUnlisted: this.#unlisted.size,
      owed: this.#bills?.sums(),
    };
  }

  /** Bills every payer. Returns the rows that change. */
  #changed(): readonly Row[] {
    const lost = ({ before, after }: Row): number => before.admitted - after.admitted;
    const billed = (row: Row): Row => ({
      ...row,
      owed: this.#bills?.owedBy(row.payer ?? '', row.plan, this.#firstMs, this.#lastMs),
    });
    return [...this.#plans.values()]
      .flatMap(({ payers }) => [...payers.values()].map(billed).filter(isChanged))
      .sort((one, other) => lost(other) - lost(one) || compare(one.payer ?? '', other.payer ?? ''));
  }

  #onPlan(plan: string): OnPlan {
    let found = this.#plans.get(plan);
    if (found === undefined) {
      found = { all: { plan, payer: null, before: none(), after: none() }, payers: new Map() };
      this.#plans.set(plan, found);
    }
    return found;
  }

  #refuse({ line, verdict }: Rehearsed): void {
    const { keyId, payer, plan, atMs, operation } = line;
    if (keyId === null) return;
    const known = this.#refused.get(keyId);
    if (known !== undefined) known.requests += 1;
    else if (this.#refused.size >= MAX_LISTED) this.#unlisted.add(keyId);
    else
      this.#refused.set(keyId, {
        ...{ key: keyId, payer, plan, at: new Date(atMs).toISOString(), operation, outcome: verdict.outcome },
        window: verdict.outcome === 'limited' ? verdict.violated : null,
        requests: 1,
      });
  }
}

function isChanged({ before, after, owed }: Row): boolean {
  return COUNTED.some((name) => before[name] !== after[name]) || isOwedOtherwise(owed);
}

function rowIn(rows: Map<string, Row>, plan: string, payer: string): Row {
  let row = rows.get(payer);
  if (row === undefined) rows.set(payer, (row = { plan, payer, before: none(), after: none() }));
  return row;
}

function none(): Counts {
  return { admitted: 0, limited: 0, banned: 0, units: 0 };
}

function compare(one: string, other: string): number {
  return one < other ? -1 : one > other ? 1 : 0;
}
