import type { Plans } from '../admission/plan.js';
import type { Operation } from '../contract/operation/operation.js';
import { fullNumber } from '../pages/components/figure.js';

export const costText = (cost: number): string =>
  cost === 0 ? 'nothing' : cost === 1 ? '1 unit' : `${fullNumber(cost)} units`;

/** Returns what the operation costs: `1 unit; 5 units on plan pro`. */
export function costsOf({ id, cost, metered }: Operation, plans: Plans): string {
  const own = [...plans.values()].flatMap(({ name, operations }) => {
    const costs = operations?.get(id)?.cost ?? null;
    return costs === null ? [] : [`${costText(costs)} on plan ${name}`];
  });
  if (metered === null) return [costText(cost), ...own].join('; ');
  const { said, from } = metered;
  const source = said === null ? '' : 'header' in said ? `the header ${said.header}` : `the parameter ${said.query}`;
  const max = said?.max === undefined ? '' : `, at most ${fullNumber(said.max)}`;
  const held = source === '' ? costText(cost) : `what ${source} says (${costText(cost)} without it${max})`;
  const figures =
    'header' in from ? `its header ${from.header}` : 'json' in from && `its field /${from.json.join('/')}`;
  const settled =
    'bytes' in from ? `1 unit per ${fullNumber(from.bytes)} bytes of the response` : `what ${figures} says`;
  return [`holds ${held} until the response; then ${settled}`, ...own].join('; ');
}
