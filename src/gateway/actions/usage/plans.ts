import { json } from 'node:stream/consumers';
import type { z } from 'zod';
import { UNMATCHED } from '../../contract/route.js';
import { rehearsalAsJson } from '../../usage/rehearsal/ledger/rehearse.js';
import { dayOf } from '../../../shared/utc-day.js';
import { monthEndMs } from '../../../shared/utc-month.js';
import { AdminRefusal } from '../answer.js';
import type { PlanUse } from '../../accounts/plans/uses.js';
import type { Column, Json } from '../command.js';
import { readPlans } from '../input/read-plans.js';
import { ofMonth } from '../input/query.js';
import { PlanCheck, PlanFile, PlanList, PlanRehearsal } from '../schemas.js';
import { action, type AdminParts, type Action } from '../action.js';
import { limited, mayBeArchived } from './reports.js';

/** The columns of a plan's limits: a plan may have one word for all of them. */
const WINDOWS = (['minute', 'day', 'month'] as const).map((window): Column => {
  const limitOf = (row: object): unknown => {
    const { limits } = row as PlanUse;
    if (limits !== 'custom' && limits !== null) return limits[window];
    return window === 'month' ? null : limits;
  };
  return [window, limitOf];
});

export const PLAN_ACTIONS: readonly Action[] = [
  action('GET /admin/v1/plans', 'read', 'List the plans, and how many keys and customers have each', {
    commands: {
      usage: 'plans list',
      example: '',
      prints: {
        list: 'plans',
        columns: [['plan', ({ name }) => name], ['state', stateOf], ...WINDOWS, 'keys', 'customers'],
        none: 'No plans.',
      },
    },
    gives: PlanList,
    handle: async ({ parts }) => ({ json: { plans: await parts.registry.planUse.list() } }),
  }),
  action(
    'POST /admin/v1/plans/check',
    'read',
    'Name the keys and customers that a plans file would leave without limits',
    {
      takes: PlanFile,
      streams: true,
      gives: PlanCheck,
      handle: async ({ parts: { registry }, bytes }) => {
        const { plans, problems, warnings } = await readPlans(registry.planUse.costs, bytes);
        return { json: { problems: plans === null ? problems : await registry.planUse.taken(plans), warnings } };
      },
    },
  ),
  action('POST /admin/v1/plans/rehearse', 'billing', 'Try a plans file on a month of the ledger', {
    query: ofMonth,
    takes: PlanFile,
    streams: true,
    gives: PlanRehearsal,
    handle: async ({ parts, query, bytes }) => ({ json: await rehearse(parts, query.month, bytes) }),
  }),
];

function stateOf({ state }: Json): string {
  return String(state).replace('_', ' ');
}

/** Rehearses days, months and amounts, in another process if there is one. */
async function rehearse(
  { registry, engine, rehearsal }: AdminParts,
  month: string,
  file: AsyncIterable<Buffer>,
): Promise<z.output<typeof PlanRehearsal>> {
  const { planUse } = registry;
  const { plans, problems } = await readPlans(planUse.costs, file);
  if (plans === null) throw new AdminRefusal(400, 'invalid_plans', problems.join('\n'));
  const from = `${month}-01`;
  const days = { from, to: dayOf(monthEndMs(Date.parse(from)) - 1) };
  const nowMs = await registry.nowMs();
  const range = { ...days, ...(await engine.days.finality(nowMs)) };
  const script = { range, today: registry.plans(), plans, costs: new Map([...planUse.costs, [UNMATCHED, 1]]) };
  const made = rehearsal?.(script) ?? rehearsalAsJson(script, engine.usage, engine);
  return (await json(
    limited<string | Buffer>(made, rehearsal !== undefined && mayBeArchived(from, nowMs)),
  )) as z.output<typeof PlanRehearsal>;
}
