import type { Plan, Plans, Price } from '../../admission/plan.js';
import { holdersIn, type Holders } from './holders.js';
import { lossesOf, messageOf } from './losses.js';
import type { Costs } from './price.js';

/** A plan and the number of its holders: customers, and keys without a customer. */
export interface PlanUse {
  readonly name: string;
  /** `gone`: not in the plans file, but some keys or customers still have it. */
  readonly state: 'in_force' | 'retired' | 'gone';
  readonly limits: Plan['limits'] | null;
  /** Requests in flight; null without a limit. */
  readonly concurrency: number | null;
  readonly price: Price | null;
  readonly keys: number;
  readonly customers: number;
}

const GONE = { state: 'gone', limits: null, concurrency: null, price: null, keys: 0, customers: 0 } as const;

/** The plans in force, with the number of their holders. */
export class PlanRegistry {
  readonly #holders: Holders;
  readonly #plans: () => Plans;
  readonly costs: Costs;

  constructor(holders: Holders, plans: () => Plans, costs: Costs) {
    this.#holders = holders;
    this.#plans = plans;
    this.costs = costs;
  }

  /** Reads every key and customer. */
  async list(): Promise<readonly PlanUse[]> {
    const uses = new Map<string, PlanUse>([...this.#plans().values()].map((plan) => [plan.name, useOf(plan)]));
    for await (const { kind, plan } of holdersIn(this.#holders)) {
      const use = uses.get(plan) ?? { ...GONE, name: plan };
      const counted = kind === 'key' ? { keys: use.keys + 1 } : { customers: use.customers + 1 };
      uses.set(plan, { ...use, ...counted });
    }
    return [...uses.values()];
  }

  /** Returns what `next` takes from keys and customers, one line each, as a start or a reload would report it. */
  async taken(next: Plans): Promise<readonly string[]> {
    const atStart = await lossesOf(this.#holders, null, next, this.costs);
    const atReload = await lossesOf(this.#holders, this.#plans(), next, this.costs);
    const isNew = ({ reason }: { reason: string }): boolean => reason === 'own_limits';
    return [...atStart, ...atReload.filter(isNew)].map(messageOf);
  }
}

function useOf({ name, retired, limits, concurrency, price }: Plan): PlanUse {
  const state = retired === true ? 'retired' : 'in_force';
  return { name, state, limits, concurrency: concurrency ?? null, price: price ?? null, keys: 0, customers: 0 };
}
