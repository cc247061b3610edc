import { json } from 'node:stream/consumers';
import type { z } from 'zod';
import { UNMATCHED } from '../../contract/route.js';
import { rehearsalAsJson } from '../../usage/rehearsal/ledger/rehearse.js';
import { scriptOf } from '../../usage/rehearsal/ledger/script.js';
import { dayOf } from '../../../shared/utc-day.js';
import { monthEndMs } from '../../../shared/utc-month.js';
import { AdminRefusal } from '../answer.js';
import { readPlans } from '../input/plans.js';
import { ofMonth } from '../input/query.js';
import { PlanCheck, PlanFile, PlanList, PlanRehearsal } from '../openapi/schemas.js';
import { route, type AdminParts, type Route } from '../route.js';
import { limited, mayBeArchived } from './usage.js';

export const PLAN_ROUTES: readonly Route[] = [
  route('GET /admin/v1/plans', 'read', 'The plans, and how many keys and customers have each', {
    gives: PlanList,
    handle: async ({ parts }) => ({ json: { plans: await parts.registry.planUse.list() } }),
  }),
  route('POST /admin/v1/plans/check', 'read', 'What a plans file would take away; changes nothing', {
    takes: PlanFile,
    streams: true,
    gives: PlanCheck,
    handle: async ({ parts, bytes }) => ({ json: await check(parts, bytes) }),
  }),
  route('POST /admin/v1/plans/rehearse', 'billing', 'What a file of plans would make of a month of the ledger', {
    query: ofMonth,
    takes: PlanFile,
    streams: true,
    gives: PlanRehearsal,
    handle: async ({ parts, query, bytes }) => ({ json: await rehearse(parts, query.month, bytes) }),
  }),
];

async function check(
  { registry: { planUse } }: AdminParts,
  file: AsyncIterable<Buffer>,
): Promise<z.output<typeof PlanCheck>> {
  const { plans, problems, warnings } = await readPlans(planUse.costs, file);
  return { problems: plans === null ? [...problems] : [...(await planUse.taken(plans))], warnings: [...warnings] };
}

/** Days, months and amounts, in a process of its own over Redis and archive. */
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
  const script = scriptOf(range, planUse.plans(), plans, new Map([...planUse.costs, [UNMATCHED, 1]]));
  const made = rehearsal?.(script) ?? rehearsalAsJson(script, engine.usage, engine);
  return (await json(
    limited<string | Buffer>(made, rehearsal !== undefined && mayBeArchived(from, nowMs)),
  )) as z.output<typeof PlanRehearsal>;
}
