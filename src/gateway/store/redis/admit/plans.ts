import { MAX_BALANCE, MINUTE_MS, SHAPES, type Limit } from '../../../admission/bucket.js';
import { ANONYMOUS_PLAN, BAN_MEMORY_MS, WARN_AT, type Plan, type Plans } from '../../../admission/plan.js';
import { LEASE_MS } from '../../../admission/leases.js';
import type { OperationTerms, OperationsTerms } from '../../../admission/windows.js';
import { groupBy } from '../../../../shared/group-by.js';
import { STATE_BYTES } from '../../state.js';
import { MAX_DAYS } from '../ledger/active-days.js';
import { loadAdmission, luaString, type Script } from '../link/script.js';
import { CODES, GRANTS_FLAG, HEAD_FORMAT, NO_LIMIT, NOTED_FLAG, OUT_OF_SCOPE_FLAG, OWN_LIMITS_FLAG } from './codes.js';
import { GRANTS_END } from './grants.js';

/** How far the clock may step back without reopening an expired window of an address. */
const GRACE_MS = 10_000;
/** Addresses of a group that have a field each, and the field shared by all others. No address has this name. */
export const SHARED_ADDRESSES = { MAX_ROWS: 64, SHARED_ROW: '~' } as const;
/** Lua: the variables that a plan's branch sets. */
const TERMS =
  'place, greedy, after, within, length, factor, cap, planMinute, planDay, monthLimit, operations, warnAt, ' +
  'concurrency, isPrepaid';
/** With more plans, branches are grouped by the last letter of the name. */
const FEW_PLANS = 32;

/**
 * Returns the admission script (scripts/admission.lua) with these plans in its text, so that no batch has to decode
 * them.
 * @param emits whether crossings and bans emit events; otherwise, bans are noted only for the history
 * (outbox/pending.ts)
 */
export function admissionScript(plans: Plans, usageDays: number, emits: boolean): Script {
  const figures = {
    ...Object.fromEntries(CODES.map((code, index) => [code.toUpperCase(), index])),
    ...{ OWN_LIMITS_FLAG, GRANTS_FLAG, NOTED_FLAG, OUT_OF_SCOPE_FLAG, NO_LIMIT, HEAD_FORMAT, STATE_BYTES, GRANTS_END },
    ...{ MINUTE_MS, BAN_MEMORY_MS, GRACE_MS, MAX_DAYS, ANONYMOUS: ANONYMOUS_PLAN, NEVER: Number.MAX_SAFE_INTEGER },
    ...SHARED_ADDRESSES,
    EMITS: emits,
    ...{ LEASE_MS, MAX_BALANCE },
    LEDGER_SECONDS: (usageDays + 1) * 86_400,
  };
  return loadAdmission(figures, `nil\n${branchesOf([...plans.values()], emits)}`);
}

/** Lua: sets the terms of the plan that the variable `plan` names, if it exists. */
function branchesOf(plans: readonly Plan[], emits: boolean): string {
  const branches = plans.map((plan, index) => planBranch(plan, index, emits));
  if (plans.length <= FEW_PLANS) return chainOf(branches);
  const byLetter = groupBy(plans.keys(), (index) => plans[index]!.name.charCodeAt(plans[index]!.name.length - 1));
  const groups = [...byLetter].map(
    ([letter, its]) => `if letter == ${letter} then\n${chainOf(its.map((index) => branches[index]!))}\n`,
  );
  return `local letter = plan and byte(plan, -1)\n${chainOf(groups)}`;
}

function chainOf(branches: readonly string[]): string {
  return branches.length === 0 ? '' : `${branches.join('else')}end`;
}

/** Limits are nil if those of the key or its customer apply. */
function planBranch(plan: Plan, index: number, emits: boolean): string {
  const { name, limits, refill, ban, operations, warnAt, concurrency = 'nil', isPrepaid = false } = plan;
  const { after, withinMs, forMs, factor, capMs } = ban;
  const shares = emits && name !== ANONYMOUS_PLAN ? (warnAt ?? WARN_AT) : [];
  const values = [
    ...[index, refill === 'greedy', after, withinMs, forMs, factor, capMs],
    ...(limits === 'custom' ? ['nil', 'nil', 'nil'] : [luaLimit(limits.minute), luaLimit(limits.day)]),
    ...(limits === 'custom' ? [] : [limits.month === undefined ? 'nil' : luaLimit(limits.month)]),
    operations === undefined ? 'nil' : operationsFunction(operations),
    shares.length === 0 ? 'nil' : luaString(String.fromCharCode(...shares)),
    concurrency,
    isPrepaid,
  ];
  return `if plan == ${luaString(name)} then\n${TERMS} = ${values.join(', ')}\n`;
}

/**
 * Lua: a function that returns an operation's own windows on this plan, and its cost. Inside the plan's branch, so that
 * it is created only for keys on that plan; a function, because Lua limits the length of a branch.
 */
function operationsFunction(operations: OperationsTerms): string {
  const named = [...operations].map(([operation, terms]) => {
    const charged = terms.cost === null ? 'cost' : `cost > 0 and ${terms.cost} or cost`;
    return `if asked == ${luaString(operation)} then return ${luaWindows(terms)}, ${charged} end `;
  });
  return `function(asked, cost) ${named.join('')}return {}, cost end`;
}

/** Lua: name, parts of a token and limit of each window. */
function luaWindows({ windows }: OperationTerms): string {
  const texts = windows.map(({ name, per, limit }) => `${luaString(name)}, ${SHAPES[per].parts}, ${luaLimit(limit)}`);
  return `{ ${texts.join(', ')} }`;
}

/** Returns a limit as scripts have it: -1 is unlimited. */
export function luaLimit(limit: Limit): number {
  return limit === 'unlimited' ? -1 : limit;
}
