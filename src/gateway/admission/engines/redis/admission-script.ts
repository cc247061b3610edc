import { MAX_LIMIT, SHAPES } from '../../bucket.js';
import type { Limit } from '../../bucket.js';
import { ANONYMOUS_PLAN, BAN_MEMORY_MS } from '../../plan.js';
import type { Plan, Plans } from '../../plan.js';
import { scriptOf } from './link/script.js';
import type { Script } from './link/script.js';
import { STATE_BYTES, STATE_FORMAT } from './state.js';

/** First byte of each answer. */
export const CODES = ['admitted', 'out_of_scope', 'limited', 'banned', 'ban_started', 'unknown', 'disabled', 'expired', 'revoked', 'no_plan', 'staged'] as const;
export type Code = (typeof CODES)[number];

/** One answer: code, place of the plan, then doubles: store time, version of the record (0: none), minute limit, day limit (-1: unlimited), state. */
export const ANSWER_FORMAT = `<BBdddd${STATE_FORMAT.slice(1)}`;
export const ANSWER_BYTES = 34 + STATE_BYTES;
/** The answer that names another day is shorter than any other. */
export const DAY_BYTES = 8;

/** How far the clock may step back without opening again, for an address, a window that was over. */
const GRACE_MS = 10_000;

/**
 * The admission: `rule()` of decide.ts for a batch, line by line, with the reading and writing around it.
 *
 * KEYS: for each subject, once, where its state stands; for a key then its ledgers of the days first to last.
 * ARGV[2…]: for each subject the number of its requests, first and last day (1 and 0 for an address), and
 * for each request secret hash, operation, scope with a blank on both sides (or nothing), and mode: the
 * cost, and for tests the time in ms.
 * The plans are part of the text, so that no batch decodes them.
 *
 * Answers one ANSWER_FORMAT for each request, or, when it is another day than those it was told, the number
 * of that day as one double: then nothing was done.
 */
export function admissionScript(plans: Plans, usageDays: number): Script {
  return scriptOf([constants(usageDays), planLookup([...plans.values()]), SETTLE, BAN, RULE, KEY, LASTS, MAIN].join('\n'));
}

function constants(usageDays: number): string {
  const codes = CODES.map((code, place) => `${code.toUpperCase()} = ${place}`).map((line) => `local ${line}`);
  return `
local ceil, find, match, sub = math.ceil, string.find, string.match, string.sub
local MINUTE, DAY, MAX_LIMIT = ${SHAPES.minute.perMs}, ${SHAPES.day.perMs}, ${MAX_LIMIT}
local GRACE, BAN_MEMORY, USAGE_TTL_S = ${GRACE_MS}, ${BAN_MEMORY_MS}, ${(usageDays + 1) * 86_400}
${codes.join('\n')}
`;
}

/** Limits: -1 is unlimited, -2 stands on the key itself. */
function planLookup(plans: readonly Plan[]): string {
  const lines = plans.map((plan, place) => {
    const { after, withinMs, forMs, factor, capMs } = plan.ban;
    const [minute, day] = plan.limits === 'custom' ? [-2, -2] : [luaLimit(plan.limits.minute), luaLimit(plan.limits.day)];
    const terms = [place, minute, day, plan.refill === 'greedy', after, withinMs, forMs, factor, capMs];
    return `  if name == ${luaString(plan.name)} then return ${terms.join(', ')} end`;
  });
  return `local function planOf(name)\n${lines.join('\n')}\nend\n`;
}

function luaLimit(limit: Limit): number {
  return limit === 'unlimited' ? -1 : limit;
}

/** Every byte escaped: no plan name can end the string. */
function luaString(text: string): string {
  const bytes = [...Buffer.from(text)].map((byte) => `\\${byte.toString().padStart(3, '0')}`);
  return `'${bytes.join('')}'`;
}

const SETTLE = `
local function settle(level, at, per, limit, greedy, now)
  if greedy and limit >= 0 then
    local refilled = now > at and limit * (now - at) or 0
    if refilled >= level then return 0, now end
    return level - refilled, now
  end
  local over
  if per == DAY then over = floor(now / per) > floor(at / per) else over = now - at >= per end
  if over then level = 0 end
  if level == 0 or at > now then at = per == DAY and now - now % per or now end
  return level, at
end
`;

const BAN = `
local function banLength(length, factor, cap, level)
  for step = 2, level do
    if length >= cap then break end
    length = floor(length * factor)
  end
  return length < cap and length or cap
end
`;

const RULE = `
-- Returns the code, then the state as settled and charged.
local function rule(minuteLimit, dayLimit, greedy, after, within, length, factor, cap, charge, now, m, mAt, d, dAt, strikes, since, banned, level)
  m, mAt = settle(m, mAt, MINUTE, minuteLimit, greedy, now)
  d, dAt = settle(d, dAt, DAY, dayLimit, greedy, now)
  if now < banned then
    if since > 0 then banned = math.min(banned, now + banLength(length, factor, cap, level)) end
    return BANNED, m, mAt, d, dAt, strikes, since, banned, level
  end
  if (minuteLimit < 0 or m + MINUTE <= minuteLimit * MINUTE) and (dayLimit < 0 or d + DAY <= dayLimit * DAY) then
    if charge then
      m = m + MINUTE
      if m > MAX_LIMIT * MINUTE then m = MAX_LIMIT * MINUTE end
      d = d + DAY
      if d > MAX_LIMIT * DAY then d = MAX_LIMIT * DAY end
    end
    return ADMITTED, m, mAt, d, dAt, strikes, since, banned, level
  end
  if not charge then return LIMITED, m, mAt, d, dAt, strikes, since, banned, level end
  if strikes == 0 or now - since >= within then strikes, since = 0, now end
  if since > now then since = now end
  strikes = strikes + 1
  if strikes < after then return LIMITED, m, mAt, d, dAt, strikes, since, banned, level end
  local again = level > 0 and now - banned < BAN_MEMORY
  level = again and level + 1 or 1
  return BAN_STARTED, m, mAt, d, dAt, 0, since, now + banLength(length, factor, cap, level), level
end
`;

const KEY = `
-- Why a key is not good, or nil. record: plan, status, expires, scopes, minute, day, secrets, import.
local function unfit(record, secret, now)
  local secrets = record[7]
  if record[8] then return STAGED end
  if not secrets then return UNKNOWN end
  if record[2] == 'disabled' then return DISABLED end
  if record[2] == 'revoked' then return REVOKED end
  local _, last = find(secrets, ' ' .. secret .. ':', 1, true)
  if not last then return UNKNOWN end
  local ends = match(secrets, '^%d+', last + 1)
  if ends and now >= tonumber(ends) then return EXPIRED end
  if record[3] ~= '' and now >= tonumber(record[3]) then return EXPIRED end
end

-- Limits on the key itself: -1 is unlimited, nil is none.
local function ownLimit(text)
  if text == 'unlimited' then return -1 end
  return tonumber(text)
end
`;

const LASTS = `
-- When a window is full again by itself. Unlimited ones have nothing to remember.
local function fullAt(level, at, per, limit, greedy)
  if level == 0 or limit < 0 then return 0 end
  if greedy and limit > 0 then return at + ceil(level / limit) end
  return per == DAY and at - at % DAY + DAY or at + per
end

-- When an address's state says no more than none would.
local function forgottenAt(minuteLimit, dayLimit, greedy, within, m, mAt, d, dAt, strikes, since, banned, level)
  local atMs = math.max(fullAt(m, mAt, MINUTE, minuteLimit, greedy), fullAt(d, dAt, DAY, dayLimit, greedy))
  if strikes > 0 then atMs = math.max(atMs, since + within) end
  if level > 0 then atMs = math.max(atMs, banned + BAN_MEMORY) end
  return atMs
end
`;

const MAIN = `
local answers, states, counts = { pack('<d', clock) }, {}, {}
local a, k = 2, 1
while k <= #KEYS do
  local name, many, firstDay, lastDay = KEYS[k], tonumber(ARGV[a]), tonumber(ARGV[a + 1]), tonumber(ARGV[a + 2])
  a = a + 3
  local isKey = firstDay <= lastDay
  local record, raw, stored, endsAt, countedDay, countedField
  if isKey then
    record = call('HMGET', name, 'plan', 'status', 'expires', 'scopes', 'minute', 'day', 'secrets', 'import', 'version', 'state')
    raw = record[10]
  else
    raw = call('GET', name)
  end
  local m, mAt, d, dAt, strikes, since, banned, level = 0, 0, 0, 0, 0, 0, 0, 0
  if raw then m, mAt, d, dAt, strikes, since, banned, level = unpack('${STATE_FORMAT}', raw) end
  for _ = 1, many do
    local secret, operation, scope, mode = ARGV[a], ARGV[a + 1], ARGV[a + 2], ARGV[a + 3]
    a = a + 4
    local charge = sub(mode, 1, 1) == '1'
    local now = #mode > 1 and tonumber(sub(mode, 2)) or clock
    local day = floor(now / DAY)
    if isKey and (day < firstDay or day > lastDay) then return answers[1] .. pack('<d', day) end
    local code, plan, version = nil, '${ANONYMOUS_PLAN}', 0
    if isKey then
      code = unfit(record, secret, now)
      plan, version = record[1], tonumber(record[9] or 0)
    end
    local place, minuteLimit, dayLimit, greedy, after, within, length, factor, cap
    if not code then
      place, minuteLimit, dayLimit, greedy, after, within, length, factor, cap = planOf(plan)
      if place and minuteLimit == -2 then
        minuteLimit, dayLimit = isKey and ownLimit(record[5]), isKey and ownLimit(record[6])
      end
      if not minuteLimit or not dayLimit then code = NO_PLAN end
    end
    if code then
      answers[#answers + 1] = pack('${ANSWER_FORMAT}', code, 0, now, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0)
    else
      local code, m1, mAt1, d1, dAt1, strikes1, since1, banned1, level1 = rule(minuteLimit, dayLimit, greedy, after, within, length, factor, cap, charge, now, m, mAt, d, dAt, strikes, since, banned, level)
      local ruling, outcome = code, code == ADMITTED and 'requests' or code == LIMITED and 'limited' or 'banned'
      if code == ADMITTED and isKey and scope ~= '' and record[4] ~= '*' and not find(record[4], scope, 1, true) then code = OUT_OF_SCOPE end
      local answer = pack('${ANSWER_FORMAT}', code, place, now, version, minuteLimit, dayLimit, m1, mAt1, d1, dAt1, strikes1, since1, banned1, level1)
      answers[#answers + 1] = answer
      -- A ban in force takes nothing and remembers nothing, unless its end is another now.
      if charge and (ruling ~= BANNED or banned1 ~= banned) then
        m, mAt, d, dAt, strikes, since, banned, level = m1, mAt1, d1, dAt1, strikes1, since1, banned1, level1
        stored = sub(answer, -${STATE_BYTES})
        if not isKey then endsAt = forgottenAt(minuteLimit, dayLimit, greedy, within, m, mAt, d, dAt, strikes, since, banned, level) - now end
      end
      if charge and isKey then
        local field = plan .. '|' .. operation .. '|' .. outcome
        if day == countedDay and field == countedField then
          counts[#counts] = counts[#counts] + 1
        else
          countedDay, countedField = day, field
          local n = #counts
          counts[n + 1], counts[n + 2], counts[n + 3] = KEYS[k + 1 + day - firstDay], field, 1
        end
      end
    end
  end
  if stored then
    local n = #states
    states[n + 1], states[n + 2], states[n + 3] = name, stored, endsAt or false
  end
  k = k + 2 + lastDay - firstDay
end
-- All is decided: from here on it is only written.
for n = 1, #states, 3 do
  if states[n + 2] then
    call('SET', states[n], states[n + 1], 'PX', math.max(states[n + 2], 0) + GRACE)
  else
    call('HSET', states[n], 'state', states[n + 1])
  end
end
for n = 1, #counts, 3 do
  -- A field that is new may be the first of its day.
  if call('HINCRBY', counts[n], counts[n + 1], counts[n + 2]) == counts[n + 2] then call('EXPIRE', counts[n], USAGE_TTL_S) end
end
return table.concat(answers)
`;
