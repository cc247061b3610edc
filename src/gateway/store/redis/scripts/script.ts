import { SHAPES } from '../../../admission/bucket.js';
import { ANONYMOUS_PLAN, WARN_AT } from '../../../admission/plan.js';
import type { Plan, Plans } from '../../../admission/plan.js';
import { enterDay } from '../ledger/active-days.js';
import { WRITE_NOTES } from '../outbox/crossed.js';
import { ADDRESS_ENDS, ruleOf } from './rule.js';
import { CODE, NOTED_FLAG, OUT_OF_SCOPE_FLAG } from './codes.js';
import { KEEP_BASE, RAISE_LIMITS, READ_GRANTS, TELL_GRANTS } from './grants.js';
import { KEEP_CUSTOMER, NOTE_STRUCK, READ_CUSTOMER, WRITE_CUSTOMERS } from './customer.js';
import { scriptOf } from '../link/script.js';
import type { Script } from '../link/script.js';
import { EXCESS } from '../names.js';
import { STATE_BYTES } from '../../state.js';
import { packedState, readStateOf } from '../state.js';
import { NO_LIMIT_OF_ITS_OWN, OWN_MONTH, SUMMARY } from './summary.js';
import {
  KEEP_WINDOWS,
  luaLimit,
  luaString,
  MONTH_START,
  READ_WINDOWS,
  TELL_WINDOWS,
  windowsFunction,
  WINDOWS_OF_OPERATION,
  WRITTEN_WINDOWS,
} from './windows.js';

/** One answer: code, place of the plan (2 bytes), then doubles: store time, version of the record (0: none), minute limit, day limit (-1: unlimited), state. */
const HEAD_FORMAT = '<BHdddd';
export const HEAD_BYTES = 35;
/** Without grants (grants.ts), and windows beside minute and day, of each of which that holds level and at follow (windows.ts). */
export const ANSWER_BYTES = HEAD_BYTES + STATE_BYTES;
/** The answer that names another day is shorter than any other. */
export const DAY_BYTES = 8;

const DAY = SHAPES.day.perMs;

/**
 * The admission: `rule()` of decide.ts for a batch, line by line, with the reading and writing around it.
 *
 * KEYS: for each subject where its state stands; of a customer's key then the customer; for a key then its ledgers of
 * the days first to last. Each subject comes once, but keys of a customer in the order in which they were asked.
 * With `tells` crossings and bans that begin are noted (outbox/pending.ts), and the answer's code says so.
 * ARGV[2…]: day that it is (`writtenDay`; 0: whichever it is), the requests (call.ts), and in pairs the
 * operations and scopes that they name by place.
 *
 * Answers one HEAD_FORMAT and state for each request, or, when it is another day, the number of that day as one
 * double: then nothing was done.
 *
 * EVALSHA runs the text anew each time, and each `local function` in it would be made anew: so there is none,
 * and what would be one is pasted in (docs/decisions/0018-the-admission-script.md has the figures). The plans are part
 * of the text, so that no batch decodes them.
 */
export function admissionScript(plans: Plans, usageDays: number, tells: boolean): Script {
  const all = [...plans.values()];
  const begin = tells ? `${BEGIN}local notes\n` : BEGIN;
  return scriptOf([begin, subject(all, tells), request(all, tells), end(tells), write(usageDays, tells)].join('\n'));
}

const BEGIN = `
local today = floor(clock / ${DAY})
local told = tonumber(ARGV[2])
local ofMonth = told % 32
local thisMonth = today - ofMonth
told = (told - ofMonth) / 32
if told ~= today and told ~= 0 then return pack('<dd', clock, today) end
local find, max = string.find, math.max
local KEYS, ARGV, requests = KEYS, ARGV, ARGV[3]
local answers, answered = { pack('<d', clock) }, 1
local states, counts, stateCount, countCount = {}, {}, 0, 0
local customers
local at, k, last = 1, 1, #KEYS
`;

function subject(plans: readonly Plan[], tells: boolean): string {
  return `
while k <= last do
  local name, kind, many, low, firstDay, ledgers = KEYS[k]
  many, low, kind, at = unpack('<BBB', requests, at)
  many = many * 128 + low
  local owner
  if kind > 2 then
    kind, k = kind - 2, k + 1
    owner = KEYS[k]
  end
  firstDay, ledgers = today, kind
  if kind == 2 then
    local high, middle, more
    high, middle, low, more, ledgers, at = unpack('<BBBBB', requests, at)
    firstDay, ledgers = (high * 128 + middle) * 128 + low, more * 128 + ledgers
  end
  local todaysLedger = k + 1 + today - firstDay
  local raw, secrets, summary, hasNewSummary, status, version, expires, minuteLimit, dayLimit, plan, scopesAt
  if kind > 0 then
    ${SUMMARY}
  else
    raw, status, version, expires, minuteLimit, dayLimit, plan = call('GET', name), 0, 0, ${Number.MAX_SAFE_INTEGER}, ${NO_LIMIT_OF_ITS_OWN}, ${NO_LIMIT_OF_ITS_OWN}, '${ANONYMOUS_PLAN}'
  end
  ${readStateOf('raw')}
  ${READ_CUSTOMER}
  ${READ_GRANTS}
  local place, greedy, after, within, length, factor, cap, extras, monthLimit, ownMonth${tells ? ', warnAt, dayWarn, marks' : ''}
  ${branchOfPlan(plans, tells)}
  if not place then minuteLimit = ${NO_LIMIT_OF_ITS_OWN} end
  ${KEEP_BASE}
  ${tells ? WARNED : ''}
  ${plans.some(({ operations }) => operations !== undefined) ? READ_WINDOWS : 'local levels, ats, hasNewWindows'}
  local stored, storedAt, isStruck, countedAt, countedLedger, countedField, excessAt, excessLedger, excessField`;
}

/** With more plans than this the branch is looked for by the last letter of the name first. */
const FEW_PLANS = 32;

/** Lua: what the plan says, into the variables of a subject. */
function branchOfPlan(plans: readonly Plan[], tells: boolean): string {
  const branches = plans.map((plan, place) => planBranch(plan, place, tells));
  if (plans.length <= FEW_PLANS) return chainOf(branches);
  const byLetter = new Map<number, string[]>();
  for (const [place, { name }] of plans.entries()) {
    const letter = name.charCodeAt(name.length - 1);
    byLetter.set(letter, [...(byLetter.get(letter) ?? []), branches[place]!]);
  }
  const groups = [...byLetter].map(([letter, its]) => `if letter == ${letter} then\n  ${chainOf(its)}`);
  return `local letter = plan and string.byte(plan, -1)\n  ${chainOf(groups)}`;
}

function chainOf(branches: readonly string[]): string {
  return branches.length === 0 ? '' : `${branches.join('\n  else')}\n  end`;
}

/** Limits: -1 is unlimited, NO_LIMIT_OF_ITS_OWN none at all; without limits of the plan those of the key stay. */
function planBranch(plan: Plan, place: number, tells: boolean): string {
  const { after, withinMs, forMs, factor, capMs } = plan.ban;
  const terms = `place, greedy, after, within, length, factor, cap = ${[place, plan.refill === 'greedy', after, withinMs, forMs, factor, capMs].join(', ')}`;
  const limits =
    plan.limits === 'custom'
      ? OWN_MONTH
      : `\n    minuteLimit, dayLimit = ${luaLimit(plan.limits.minute)}, ${luaLimit(plan.limits.day)}${
          plan.limits.month === undefined ? '' : `\n    monthLimit = ${luaLimit(plan.limits.month)}`
        }`;
  const extras = plan.operations === undefined ? '' : `\n    extras = ${windowsFunction(plan)}`;
  const warned = tells && plan.name !== ANONYMOUS_PLAN ? (plan.warnAt ?? WARN_AT) : [];
  const warnings = warned.length === 0 ? '' : `\n    warnAt = ${luaString(String.fromCharCode(...warned))}`;
  return `if plan == ${luaString(plan.name)} then\n    ${terms}${limits}${extras}${warnings}`;
}

/** Lua: why the key is not good, into `code`; nil when it is. */
const UNFIT = `if status > 0 then
      code = status
    elseif kind > 0 and secrets ~= secret then
      -- Several secrets, one that ends, or another one.
      local _, colon = find(secrets, secret, 1, true)
      local ends = colon and string.match(secrets, '^%d+', colon + 1)
      if not colon then code = ${CODE.unknown} elseif ends and now >= tonumber(ends) then code = ${CODE.expired} end
    end
    if not code then
      if now >= expires then
        code = ${CODE.expired}
      elseif customer and customer.status > 0 then
        code = customer.status
      elseif minuteLimit == ${NO_LIMIT_OF_ITS_OWN} or dayLimit == ${NO_LIMIT_OF_ITS_OWN} then
        code = ${CODE.no_plan}
      end
    end`;

/** Lua: the level of the day above which there may be something to tell, into `dayWarn`. */
const DAY_WARN = `if dayLimit >= 0 then dayWarn = (math.ceil(dayLimit * string.byte(warnAt) / 100) - 1) * ${DAY} end`;

/** Lua: what is warned of. */
const WARNED = `
  if warnAt and kind > 0 then
    ${DAY_WARN}
    marks = customer and customer.marks
  end`;

/** Lua: counts the request for the ledger: what follows each other is one count. */
const COUNTED = `
      if charge and kind > 0 then
        local field = plan .. '|' .. ARGV[operation] .. outcome
        if ledger == countedLedger and field == countedField then
          counts[countedAt] = counts[countedAt] + 1
        else
          countedLedger, countedField = ledger, field
          counts[countCount + 1], counts[countCount + 2], counts[countCount + 3] = KEYS[ledger], field, 1
          countCount = countCount + 3
          countedAt = countCount
        end
        if cost > 1 and code == ${CODE.admitted} then
          field = plan .. '|' .. ARGV[operation] .. '|${EXCESS}'
          if ledger == excessLedger and field == excessField then
            counts[excessAt] = counts[excessAt] + cost - 1
          else
            excessLedger, excessField = ledger, field
            counts[countCount + 1], counts[countCount + 2], counts[countCount + 3] = KEYS[ledger], field, cost - 1
            countCount = countCount + 3
            excessAt = countCount
          end
        end
      end`;

function request(plans: readonly Plan[], tells: boolean): string {
  return `
  for _ = 1, many do
    local operation, mode, secret
    operation, low, mode, secret, at = unpack('<BBBBc0', requests, at)
    operation = operation * 128 + low
    local now, ledger, month, cost, code = clock, todaysLedger, thisMonth, mode % 2
    if mode > 1 then
      if mode % 4 > 1 then
        now, at = unpack('<Bc0', requests, at)
        now = tonumber(now)
        ${MONTH_START}
        ledger = k + 1 + floor(now / ${DAY}) - firstDay
      end
      if mode > 3 then
        local high, middle
        high, middle, low, at = unpack('<BBB', requests, at)
        cost = (high * 128 + middle) * 128 + low
      end
    end
    ${UNFIT}
    if code then
      answers[answered + 1], answers[answered + 2] = pack('${HEAD_FORMAT}', code, 0, now, 0, 0, 0), string.rep('\\0', ${STATE_BYTES})
    else
      local w, wl, wa, wp, outcome${tells ? ', isNoted' : ''}
      ${RAISE_LIMITS}
      ${tells ? `if grants and warnAt then ${DAY_WARN} end` : ''}
      ${plans.some(({ operations }) => operations !== undefined) ? WINDOWS_OF_OPERATION : ''}
      local charge = cost > 0
      ${ruleOf(tells)}
      local state = ${packedState('m1', 'mAt1', 'd1', 'dAt1', 'strikes1', 'level1', 'since1', 'banned1', 'used1', 'month')}
      -- A ban in force takes nothing and remembers nothing, unless its end is another now.
      if charge and (code ~= ${CODE.banned} or banned1 ~= banned) then
        ${NOTE_STRUCK}
        m, mAt, d, dAt, used, usedOf, strikes, since, banned, level = m1, mAt1, d1, dAt1, used1, month, strikes1, since1, banned1, level1
        stored, storedAt = state, now
        ${KEEP_WINDOWS}
      end
      ${COUNTED}
      local scope = ARGV[operation + 1]
      if kind > 0 and scope ~= '' and not find(summary, scope, scopesAt, true) and string.byte(summary, scopesAt) ~= 42 then code = code + ${OUT_OF_SCOPE_FLAG} end
      local answer = state
      ${TELL_GRANTS}
      ${TELL_WINDOWS}
      ${tells ? `if isNoted then code = code + ${NOTED_FLAG} end` : ''}
      answers[answered + 1], answers[answered + 2] = pack('${HEAD_FORMAT}', code, place, now, version, minuteBase or minuteLimit, dayBase or dayLimit), answer
    end
    answered = answered + 2
  end`;
}

function end(tells: boolean): string {
  return `
  if stored and customer then
    ${KEEP_CUSTOMER}${tells ? '\n    customer.marks = marks' : ''}
  elseif stored then
    local endsAt = false
    if kind == 0 then
      ${ADDRESS_ENDS}
      endsAt = endsAt - storedAt
    end
    ${WRITTEN_WINDOWS}
    states[stateCount + 1], states[stateCount + 2], states[stateCount + 3], states[stateCount + 4], states[stateCount + 5] = name, stored, hasNewSummary and summary, endsAt, windows
    stateCount = stateCount + 5
  end
  k = k + 1 + ledgers
end`;
}

/** How far the clock may step back without opening again, for an address, a window that was over. */
const GRACE_MS = 10_000;

function write(usageDays: number, tells: boolean): string {
  return `
-- All is decided: from here on it is only written.
for n = 1, stateCount, 5 do
  if states[n + 4] then call('HSET', states[n], 'windows', states[n + 4]) end
  if states[n + 3] then
    call('SET', states[n], states[n + 1], 'PX', max(states[n + 3], 0) + ${GRACE_MS})
  elseif states[n + 2] then
    call('HSET', states[n], 'state', states[n + 1], 'summary', states[n + 2])
  else
    call('HSET', states[n], 'state', states[n + 1])
  end
end
${WRITE_CUSTOMERS}
${tells ? WRITE_NOTES : ''}
for n = 1, countCount, 3 do
  -- A field that is new may be the first of its day.
  local count = counts[n + 2]
  -- As text, for Redis formats a number at length.
  if call('HINCRBY', counts[n], counts[n + 1], count == 1 and '1' or count) == count then
  call('EXPIRE', counts[n], ${(usageDays + 1) * 86_400})
  ${enterDay('counts[n]')}
  end
end
return table.concat(answers)
`;
}
