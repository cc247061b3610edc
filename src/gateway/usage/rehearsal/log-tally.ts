import { LoggedBill, type Prices } from './bills.js';
import type { Rehearsed } from './replay.js';
import type { Doubt } from './subjects.js';
import { Tally, type BeforeAndAfter, type Sums } from './tally.js';

/** Requests by outcome, and the units admitted. */
type Counts = Record<'admitted' | 'limited' | 'banned' | 'units', number>;
type LogFigures = Readonly<Record<'before' | 'after', Counts>>;

/** A key's first request that the log admitted and the new plans refuse. */
interface FirstRefusal {
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

export interface LogSums extends Sums<LogFigures> {
  readonly from: string | null;
  readonly to: string | null;
  readonly different: number;
  /** How many of these may differ for another reason than the plans. */
  readonly doubtful: Readonly<Partial<Record<Doubt, number>>>;
  /** In the order of time. */
  readonly refused: readonly FirstRefusal[];
  /** Number of keys that are refused but not listed. */
  readonly refusedUnlisted: number;
}

/** Maximum number of refused keys to list. */
const MAX_LISTED = 10_000;

/** Figures by plan, and what they cost. */
interface Payer {
  readonly figures: Map<string, LogFigures>;
  /** Null if no plan has a price. */
  readonly bill: LoggedBill | null;
}

/** Sums up what the new plans change in a log. */
export class LogTally {
  /** By ID; null for addresses. */
  readonly #payers = new Map<string | null, Payer>();
  readonly #refused = new Map<string, FirstRefusal>();
  readonly #unlisted = new Set<string>();
  readonly #doubtful: Partial<Record<Doubt, number>> = {};
  readonly #prices: BeforeAndAfter<Prices> | null;
  #different = 0;
  #firstMs = Infinity;
  #lastMs = -Infinity;

  /** @param prices null if no plan has one */
  constructor(prices: BeforeAndAfter<Prices> | null) {
    this.#prices = prices;
  }

  add({ line, verdict, doubt }: Rehearsed): void {
    const { plan, payer: id, keyId, outcome, cost, contractCost, settled, atMs } = line;
    if (atMs < this.#firstMs) this.#firstMs = atMs;
    if (atMs > this.#lastMs) this.#lastMs = atMs;
    const before = outcome === 'admitted' ? (settled ?? cost) : 0;
    // A plan's own cost is fixed. It is unknown what a refused request would have cost, so its hold counts.
    const charged = verdict.cost === contractCost ? (settled ?? verdict.cost) : verdict.cost;
    const after = verdict.outcome === 'admitted' ? charged : 0;
    const payer = this.#payerOf(keyId === null ? null : id);
    const figures = figuresIn(payer.figures, plan);
    figures.before[outcome] += 1;
    figures.before.units += before;
    figures.after[verdict.outcome] += 1;
    figures.after.units += after;
    payer.bill?.add(line, before, after);
    if (verdict.outcome === outcome) return;
    this.#different += 1;
    if (doubt !== null) this.#doubtful[doubt] = (this.#doubtful[doubt] ?? 0) + 1;
    if (outcome === 'admitted') this.#refuse({ line, verdict, doubt });
  }

  end(): LogSums {
    const tally = new Tally(none, ({ before, after }) => before.admitted - after.admitted, {
      payer: null as string | null,
    });
    for (const [payer, { figures, bill }] of [...this.#payers].sort(([one], [other]) =>
      compare(one ?? '', other ?? ''),
    ))
      tally.add({ payer }, figures, payer === null ? undefined : this.#chargesOf(bill));
    const [from, to] = [this.#firstMs, this.#lastMs].map((ms) =>
      this.#payers.size === 0 ? null : new Date(ms).toISOString(),
    ) as [string | null, string | null];
    const { plans, payers, owed } = tally.end();
    return {
      ...{ from, to, different: this.#different, doubtful: this.#doubtful },
      ...{ plans, payers },
      refused: [...this.#refused.values()].sort((one, other) => compare(one.at, other.at)),
      refusedUnlisted: this.#unlisted.size,
      owed,
    };
  }

  #chargesOf(bill: LoggedBill | null) {
    if (this.#prices === null || bill === null) return undefined;
    const { before, after } = this.#prices;
    const period = [this.#firstMs, this.#lastMs] as const;
    return {
      before: before && bill.charges('before', before, ...period),
      after: bill.charges('after', after, ...period),
    };
  }

  #payerOf(id: string | null): Payer {
    let payer = this.#payers.get(id);
    if (payer === undefined)
      this.#payers.set(id, (payer = { figures: new Map(), bill: this.#prices && new LoggedBill() }));
    return payer;
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

function figuresIn(all: Map<string, LogFigures>, plan: string): LogFigures {
  let figures = all.get(plan);
  if (figures === undefined) all.set(plan, (figures = none()));
  return figures;
}

function none(): LogFigures {
  const counts = (): Counts => ({ admitted: 0, limited: 0, banned: 0, units: 0 });
  return { before: counts(), after: counts() };
}

function compare(one: string, other: string): number {
  return one < other ? -1 : one > other ? 1 : 0;
}
