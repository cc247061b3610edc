import type { Plan, Plans } from '../../admission/plan.js';
import type { Problem } from '../../config/files/problem.js';
import type { Sources } from '../../config/load.js';
import { holdersIn, type Holder, type Holders } from './holders.js';
import { dearestOn, tooSmallFor, type Costs } from './price.js';

/** Why a plan does not serve its holder. */
type Reason = 'gone' | 'without_limits' | 'own_limits' | 'price';

/** Keys and customers that lose something by a change of a plan. */
interface Loss {
  readonly plan: string;
  readonly reason: Reason;
  readonly keys: number;
  readonly customers: number;
  /** The first three of them. */
  readonly ids: readonly string[];
}

const FEW = 3;

/**
 * Returns who would lose by a change of the plans. Reads nothing if no plan was removed or narrowed.
 * @param before null at a start: the result has everyone that `next` does not serve
 */
export async function lossesOf(
  holders: Holders,
  before: Plans | null,
  next: Plans,
  costs: Costs,
): Promise<readonly Loss[]> {
  if (before !== null && !narrows(before, next, costs)) return [];
  const reasonOf = reasonsIn(before, next, costs);
  const losses = new Map<string, Loss>();
  for await (const holder of holdersIn(holders)) {
    const reason = reasonOf(holder);
    if (reason === null) continue;
    const { plan } = holder;
    const known = losses.get(`${plan} ${reason}`) ?? { plan, reason, keys: 0, customers: 0, ids: [] };
    losses.set(`${plan} ${reason}`, withOne(known, holder));
  }
  return [...losses.values()];
}

/** Returns the losses as problems of the plans file. @param before as for `lossesOf` */
export async function planProblems(
  holders: Holders,
  { settings, plans: file }: Pick<Sources, 'settings' | 'plans'>,
  before: Plans | null,
  operations: readonly { readonly id: string; readonly cost: number }[],
): Promise<readonly Problem[]> {
  const costs = new Map(operations.map(({ id, cost }) => [id, cost]));
  const losses = await lossesOf(holders, before, settings.plans, costs);
  return losses.map((loss) => ({ ...file.location([loss.plan], 'key'), path: loss.plan, message: messageOf(loss) }));
}

export function messageOf({ plan, reason, keys, customers, ids }: Loss): string {
  const count = [countOf(keys, 'key'), countOf(customers, 'customer')].filter(Boolean).join(' and ');
  const more = keys + customers > ids.length ? ', …' : '';
  return `${WORDS[reason](plan)}: ${count} on it (${ids.join(', ')}${more})`;
}

const WORDS: Readonly<Record<Reason, (plan: string) => string>> = {
  gone: (plan) => `the plan ${plan} is gone; keep it with \`retired: true\` until they have another`,
  without_limits: (plan) => `the limits of plan ${plan} are custom now, and these have none of their own`,
  own_limits: (plan) => `plan ${plan} now has fixed limits, so limits of their own would no longer apply`,
  price: (plan) => `an operation on plan ${plan} costs more than their own limits allow`,
};

function countOf(count: number, what: string): string {
  return count === 0 ? '' : `${count} ${what}${count === 1 ? '' : 's'}`;
}

function withOne(loss: Loss, { kind, id }: Holder): Loss {
  const ids = loss.ids.length < FEW ? [...loss.ids, id] : loss.ids;
  return kind === 'key' ? { ...loss, ids, keys: loss.keys + 1 } : { ...loss, ids, customers: loss.customers + 1 };
}

/** Whether a plan was removed or narrowed. */
export function narrows(before: Plans, next: Plans, costs: Costs): boolean {
  return [...before.values()].some((plan) => isNarrowed(plan, next.get(plan.name), costs));
}

/** Whether `next` may not serve a holder of `plan`; lower limits alone do not count. */
function isNarrowed(plan: Plan, next: Plan | undefined, costs: Costs): boolean {
  if (next === undefined || (plan.limits === 'custom') !== (next.limits === 'custom')) return true;
  return plan.limits === 'custom' && dearestOn(next, costs).cost > dearestOn(plan, costs).cost;
}

function reasonsIn(before: Plans | null, next: Plans, costs: Costs): (holder: Holder) => Reason | null {
  const dearest = new Map([...next.values()].map((plan) => [plan.name, dearestOn(plan, costs).cost]));
  return (holder) => {
    const old = before?.get(holder.plan);
    // Those not served before lose nothing more.
    if (before !== null && (old === undefined || unserved(old, holder) !== null)) return null;
    const plan = next.get(holder.plan);
    const reason = unserved(plan, holder);
    if (reason !== null) return reason;
    if (plan!.limits !== 'custom') return old?.limits === 'custom' && holder.limits !== null ? 'own_limits' : null;
    return tooSmallFor(dearest.get(holder.plan)!, holder.limits!).length > 0 ? 'price' : null;
  };
}

function unserved(plan: Plan | undefined, { limits }: Holder): Reason | null {
  if (plan === undefined) return 'gone';
  return plan.limits === 'custom' && limits === null ? 'without_limits' : null;
}
