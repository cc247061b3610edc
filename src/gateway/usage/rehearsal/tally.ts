import type { Rehearsed } from './replay.js';
import type { Doubt } from './subjects.js';

/** What became of requests. */
export interface Counts {
  admitted: number;
  limited: number;
  banned: number;
  units: number;
}

/** Of one plan, or of one customer (or key without one) on it. */
export interface Row {
  readonly plan: string;
  /** Null where the row is of all on the plan; else the id of the customer, or of a key that has none. */
  readonly payer: string | null;
  readonly before: Counts;
  readonly after: Counts;
}

/** Who is refused under the new plans, and was not. */
export interface FirstRefusal {
  readonly key: string;
  readonly payer: string;
  readonly plan: string;
  readonly at: string;
  readonly operation: string;
  readonly outcome: string;
  /** The window that refuses; null of a ban. */
  readonly window: string | null;
  /** So many of its requests that passed are refused. */
  requests: number;
}

/** One plan's row, and the rows of those who pay on it, by id. */
interface OnPlan {
  readonly all: Row;
  readonly payers: Map<string, Row>;
}

/** More are counted, not listed. */
const MAX_LISTED = 10_000;

/** What the new plans change, summed up: as many rows as there are subjects. */
export class Tally {
  readonly #plans = new Map<string, OnPlan>();
  readonly #refused = new Map<string, FirstRefusal>();
  readonly #unlisted = new Set<string>();
  /** Verdicts that are others than logged; and of these, those that something speaks against, by what. */
  different = 0;
  readonly doubtful: Partial<Record<Doubt, number>> = {};
  firstMs = Infinity;
  lastMs = -Infinity;

  add({ line, verdict, doubt }: Rehearsed): void {
    const { plan, payer, keyId, outcome, cost, atMs } = line;
    if (atMs < this.firstMs) this.firstMs = atMs;
    if (atMs > this.lastMs) this.lastMs = atMs;
    const { all, payers } = this.#onPlan(plan);
    count(all, outcome, cost, verdict);
    if (keyId !== null) count(rowIn(payers, plan, payer), outcome, cost, verdict);
    if (verdict.outcome === outcome) return;
    this.different += 1;
    if (doubt !== null) this.doubtful[doubt] = (this.doubtful[doubt] ?? 0) + 1;
    if (outcome === 'admitted') this.#refuse({ line, verdict, doubt });
  }

  plans(): readonly Row[] {
    return [...this.#plans.values()].map(({ all }) => all).sort((one, other) => compare(one.plan, other.plan));
  }

  /** Those whose figures change, the hardest hit first. */
  changed(): readonly Row[] {
    const lost = ({ before, after }: Row): number => before.admitted - after.admitted;
    const isChanged = ({ before, after }: Row): boolean =>
      (['admitted', 'limited', 'banned', 'units'] as const).some((name) => before[name] !== after[name]);
    const rows = [...this.#plans.values()].flatMap(({ payers }) => [...payers.values()].filter(isChanged));
    return rows.sort((one, other) => lost(other) - lost(one) || compare(one.payer ?? '', other.payer ?? ''));
  }

  /** By time. */
  refused(): readonly FirstRefusal[] {
    return [...this.#refused.values()].sort((one, other) => compare(one.at, other.at));
  }

  /** Keys beyond those listed. */
  get unlisted(): number {
    return this.#unlisted.size;
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

function count(
  { before, after }: Row,
  outcome: Rehearsed['line']['outcome'],
  cost: number,
  verdict: Rehearsed['verdict'],
): void {
  before[outcome] += 1;
  after[verdict.outcome] += 1;
  if (outcome === 'admitted') before.units += cost;
  if (verdict.outcome === 'admitted') after.units += verdict.cost;
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
