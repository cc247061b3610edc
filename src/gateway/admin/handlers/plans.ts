import type { z } from 'zod';
import type { Layers } from '../../config/files/layers.js';
import { ConfigError } from '../../config/files/problem.js';
import { plansFile, toPlans } from '../../config/schema/plans.js';
import { checkPrices } from '../../contract/prices.js';
import { AdminRefusal } from '../answer.js';
import { readBody } from '../input/body.js';
import { PlanCheck, PlanFile, PlanList } from '../openapi/schemas.js';
import { route, type AdminParts, type Route } from '../route.js';

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
];

async function check({ registry: { planUse } }: AdminParts, file: unknown): Promise<z.output<typeof PlanCheck>> {
  const parsed = plansFile.safeParse(file);
  if (!parsed.success) {
    const problems = parsed.error.issues.map(({ path, message }) => `${path.map(String).join('.')}: ${message}`);
    return { problems, warnings: [] };
  }
  const plans = toPlans(parsed.data);
  try {
    const operations = [...planUse.costs].map(([id, cost]) => ({ id, cost }));
    const warnings = checkPrices({ settings: { plans }, plans: IN_BODY }, operations);
    return { problems: [...(await planUse.taken(plans))], warnings: [...warnings] };
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error;
    return { problems: error.message.split('\n'), warnings: [] };
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
