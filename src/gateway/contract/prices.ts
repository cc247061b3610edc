import { ANONYMOUS_PLAN, type Plan, type Plans } from '../admission/plan.js';
import { costOf, EVERY_OPERATION, windowsOf } from '../admission/windows.js';
import type { Layers } from '../config/files/layers.js';
import { suggestion } from '../../shared/names/nearest.js';
import { ConfigError, renderProblem, type Problem } from '../config/files/problem.js';
import type { Report } from './document/findings.js';
import type { Operation } from './operation/operation.js';
import { UNMATCHED } from './route.js';

/** Limit for problems and for warnings: more help nobody, and a hostile file could cause millions. */
const MAX_PROBLEMS = 1_000;
/** At most this many unknown names per plan get a suggestion: finding the nearest name is slow. */
const MAX_SUGGESTED = 20;
const PERIODS = ['minute', 'day', 'month'] as const;

type PlanLocations = Pick<Layers, 'location' | 'files'>;

type Costs = ReadonlyMap<string, number>;

/**
 * Checks the plans against the contract: the operations they name must exist and have a cost, and no cost may exceed
 * its window, because such a request could never pass.
 * @returns warnings, one line each, for operations that do not exist: a contract without one must not prevent a start
 * @throws ConfigError with every problem, each with its location in the plans file
 */
export function checkPrices(
  { settings, plans: file }: { readonly settings: { readonly plans: Plans }; readonly plans: PlanLocations },
  operations: readonly (Pick<Operation, 'id' | 'cost'> & Partial<Pick<Operation, 'secured'>>)[],
): readonly string[] {
  const costs: Costs = new Map([...operations.map(({ id, cost }) => [id, cost] as const), [UNMATCHED, 1]]);
  // On the anonymous plan an address pays only for these, and one unit for each 401.
  const publicCosts: Costs = new Map(
    operations.filter(({ secured }) => secured === false).map(({ id, cost }) => [id, cost]),
  );
  const problems: Problem[] = [];
  const warnings: Problem[] = [];
  const reportTo =
    (list: Problem[]): Report =>
    (path, part, message) => {
      if (list.length < MAX_PROBLEMS)
        list.push({ ...file.location(path, part), path: path.map(String).join('.'), message });
    };
  const report = reportTo(problems);
  for (const plan of settings.plans.values()) {
    checkNames(plan, costs, report, reportTo(warnings));
    checkLimits(plan, plan.name === ANONYMOUS_PLAN ? publicCosts : costs, report);
  }
  problems.sort((a, b) => a.line - b.line || a.column - b.column);
  if (problems.length > 0) throw new ConfigError(problems, file.files);
  return warnings.map(renderProblem);
}

function checkNames({ name, operations }: Plan, costs: Costs, report: Report, warn: Report): void {
  let unknown = 0;
  const priced = [...costs].filter(([, cost]) => cost > 0).map(([id]) => id);
  for (const id of operations?.keys() ?? []) {
    const path = [name, 'operations', id];
    const cost = costs.get(id);
    if (cost === undefined && id !== EVERY_OPERATION) {
      unknown += 1;
      const advice = unknown > MAX_SUGGESTED ? '' : `; ${suggestion(id, priced)}`;
      warn(path, 'key', `the contract has no operation of this name${advice}`);
    } else if (cost === 0)
      report(path, 'key', 'the contract lets this operation pass for nothing, on every plan; leave it out');
  }
}

function checkLimits(plan: Plan, costs: Costs, report: Report): void {
  const { name, limits, operations } = plan;
  for (const [id, ofContract] of costs) {
    const cost = costOf(operations, id, ofContract);
    const own = windowsOf({ limits: { minute: 1, day: 1 }, operations }, id);
    const common = limits === 'custom' ? [] : PERIODS.map((per) => ({ per, limit: limits[per] ?? 'unlimited' }));
    const isOverridden = typeof operations?.get(id)?.cost === 'number';
    const windows = [
      ...common.map(({ per, limit }) => ({ limit, window: per, path: [name, 'limits', per] })),
      ...own.map(({ per, limit }) => ({ limit, window: `${per} of its own`, path: [name, 'operations', id, per] })),
    ];
    for (const { limit, window, path } of windows) {
      if (limit === 'unlimited' || cost <= limit) continue;
      report(
        isOverridden ? [name, 'operations', id, 'cost'] : path,
        'value',
        `on plan ${name} ${id} costs ${cost}, and the ${window} holds ${limit}: no request could ever pass; ` +
          'raise the limit or lower the cost',
      );
    }
  }
}
