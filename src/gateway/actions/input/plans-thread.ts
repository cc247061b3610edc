import { parentPort, workerData } from 'node:worker_threads';
import type { Layers } from '../../config/files/layers.js';
import { ConfigError } from '../../config/files/problem.js';
import { plansFile, toPlans } from '../../config/schema/plans.js';
import { checkPrices } from '../../contract/prices.js';
import { AdminRefusal } from '../answer.js';
import { readBody } from './json.js';
import type { PlanOrder, PlanOutcome } from './read-plans.js';

/** The name of the file in messages. */
const IN_BODY: Pick<Layers, 'location' | 'files'> = {
  location: () => ({ file: 'plans', line: 0, column: 0 }),
  files: [],
};

/** A thread that parses one plans file (plans.ts) and ends. */
function read({ bytes, costs }: PlanOrder): PlanOutcome {
  const none = (problems: readonly string[]): PlanOutcome => ({ plans: null, problems, warnings: [] });
  try {
    const parsed = plansFile.safeParse(readBody(Buffer.from(bytes)));
    if (!parsed.success)
      return none(parsed.error.issues.map(({ path, message }) => `${path.map(String).join('.')}: ${message}`));
    const plans = toPlans(parsed.data);
    const operations = [...costs].map(([id, cost]) => ({ id, cost }));
    return { plans, problems: [], warnings: checkPrices({ settings: { plans }, plans: IN_BODY }, operations) };
  } catch (error) {
    if (error instanceof AdminRefusal) return error.message;
    if (error instanceof ConfigError) return none(error.message.split('\n'));
    throw error;
  }
}

parentPort?.postMessage(read(workerData as PlanOrder));
