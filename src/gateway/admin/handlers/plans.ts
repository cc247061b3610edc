import { json } from 'node:stream/consumers';
import type { z } from 'zod';
import type { Plans } from '../../admission/plan.js';
import type { Layers } from '../../config/files/layers.js';
import { ConfigError } from '../../config/files/problem.js';
import { plansFile, toPlans } from '../../config/schema/plans.js';
import { checkPrices } from '../../contract/prices.js';
import { UNMATCHED } from '../../contract/route.js';
import { rehearsalAsJson } from '../../usage/rehearsal/ledger/rehearse.js';
import { scriptOf } from '../../usage/rehearsal/ledger/script.js';
import { dayOf } from '../../../shared/utc-day.js';
import { monthEndMs } from '../../../shared/utc-month.js';
import { AdminRefusal } from '../answer.js';
import { readBody } from '../input/body.js';
import { ofMonth } from '../input/query.js';
import { PlanCheck, PlanFile, PlanList, PlanRehearsal } from '../openapi/schemas.js';
import { route, type AdminParts, type Route } from '../route.js';
import { limited, mayBeArchived } from './usage.js';

/** A thousand plans with prices are a third of it. */
const FILE_BYTES = 2 ** 20;
/** Where a body stands, for messages. */
const IN_BODY: Pick<Layers, 'location' | 'files'> = {
  location: () => ({ file: 'plans', line: 0, column: 0 }),
  files: [],
};

export const PLAN_ROUTES: readonly Route[] = [
  route('GET /admin/v1/plans', 'read', 'The plans, and how many keys and customers have each', {
    gives: PlanList,
    handle: async ({ parts }) => ({ json: { plans: await parts.registry.planUse.list() } }),
  }),
  route('POST /admin/v1/plans/check', 'read', 'What a file of plans would take away; changes nothing', {
    takes: PlanFile,
    streams: true,
    gives: PlanCheck,
    handle: async ({ parts, bytes }) => ({ json: await check(parts, readBody(await wholeOf(bytes))) }),
  }),
  route('POST /admin/v1/plans/rehearse', 'billing', 'What a file of plans would make of a month of the ledger', {
    query: ofMonth,
    takes: PlanFile,
    streams: true,
    gives: PlanRehearsal,
    handle: async ({ parts, query, bytes }) => ({
      json: await rehearse(parts, query.month, readBody(await wholeOf(bytes))),
    }),
  }),
];

async function check({ registry: { planUse } }: AdminParts, file: unknown): Promise<z.output<typeof PlanCheck>> {
  const { plans, problems, warnings } = readPlans(planUse.costs, file);
  return { problems: plans === null ? [...problems] : [...(await planUse.taken(plans))], warnings: [...warnings] };
}

/** Days, months and amounts, in a process of its own over Redis and archive. */
async function rehearse(
  { registry, engine, rehearsal }: AdminParts,
  month: string,
  file: unknown,
): Promise<z.output<typeof PlanRehearsal>> {
  const { planUse } = registry;
  const { plans, problems } = readPlans(planUse.costs, file);
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

interface Read {
  /** Null where there are problems. */
  readonly plans: Plans | null;
  readonly problems: readonly string[];
  readonly warnings: readonly string[];
}

function readPlans(costs: ReadonlyMap<string, number>, file: unknown): Read {
  const parsed = plansFile.safeParse(file);
  if (!parsed.success) {
    const problems = parsed.error.issues.map(({ path, message }) => `${path.map(String).join('.')}: ${message}`);
    return { plans: null, problems, warnings: [] };
  }
  const plans = toPlans(parsed.data);
  try {
    const operations = [...costs].map(([id, cost]) => ({ id, cost }));
    return { plans, problems: [], warnings: checkPrices({ settings: { plans }, plans: IN_BODY }, operations) };
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error;
    return { plans: null, problems: error.message.split('\n'), warnings: [] };
  }
}

async function wholeOf(bytes: AsyncIterable<Buffer>): Promise<Buffer> {
  const chunks: Buffer[] = [];
  let length = 0;
  for await (const chunk of bytes) {
    length += chunk.length;
    if (length > FILE_BYTES)
      throw new AdminRefusal(413, 'body_too_large', `The body is larger than ${FILE_BYTES} bytes.`);
    chunks.push(chunk);
  }
  return Buffer.concat(chunks);
}
