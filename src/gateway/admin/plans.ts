import type { Layers } from '../config/files/layers.js';
import { ConfigError } from '../config/files/problem.js';
import { plansFile, toPlans } from '../config/schema/plans.js';
import { checkPrices } from '../contract/prices.js';
import { AdminRefusal } from './answer.js';
import type { Answer } from './answer.js';
import { readBody } from './input/body.js';
import type { Call, Route } from './route.js';

export const PLAN_ROUTES: readonly Route[] = [
  {
    method: 'GET',
    path: '/admin/v1/plans',
    summary: 'The plans, and how many keys and customers have each',
    role: 'read',
    gives: [200, 'PlanList'],
    handle: async ({ parts }) => ({ json: { plans: await parts.registry.planUse.list() } }),
  },
  {
    method: 'POST',
    path: '/admin/v1/plans/check',
    summary: 'What a file of plans, as JSON, would take from keys and customers; changes nothing',
    role: 'read',
    takes: 'PlanFile',
    streams: true,
    gives: [200, 'PlanCheck'],
    handle: check,
  },
];

/** A thousand plans with prices are a third of it. */
const FILE_BYTES = 2 ** 20;
/** Where a body stands, for messages. */
const IN_BODY: Pick<Layers, 'place' | 'files'> = { place: () => ({ file: 'plans', line: 0, column: 0 }), files: [] };

async function check({ parts, bytes }: Call): Promise<Answer> {
  const parsed = plansFile.safeParse(readBody(await wholeOf(bytes)));
  if (!parsed.success) {
    const problems = parsed.error.issues.map(({ path, message }) => `${path.map(String).join('.')}: ${message}`);
    return { json: { problems, warnings: [] } };
  }
  const plans = toPlans(parsed.data);
  const { planUse } = parts.registry;
  try {
    const operations = [...planUse.costs].map(([id, cost]) => ({ id, cost }));
    const warnings = checkPrices({ settings: { plans }, plans: IN_BODY }, operations);
    return { json: { problems: await planUse.taken(plans), warnings } };
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error;
    return { json: { problems: error.message.split('\n'), warnings: [] } };
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
