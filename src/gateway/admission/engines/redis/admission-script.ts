import { MAX_LIMIT, SHAPES } from '../../bucket.js';
import type { Limit } from '../../bucket.js';
import { ANONYMOUS_PLAN, BAN_MEMORY_MS } from '../../plan.js';
import type { Plan, Plans } from '../../plan.js';
import { scriptOf } from './script.js';
import type { Script } from './script.js';
import { STATE_BYTES, STATE_FORMAT } from './state.js';

/** First byte of each answer. */
export const CODES = ['admitted', 'out_of_scope', 'limited', 'banned', 'ban_started', 'unknown', 'disabled', 'expired', 'revoked', 'no_plan', 'staged'] as const;
export type Code = (typeof CODES)[number];

/** One answer: code, place of the plan, then doubles: store time, minute limit, day limit (-1: unlimited), state. */
export const ANSWER_FORMAT = `<BBddd${STATE_FORMAT.slice(1)}`;
export const ANSWER_BYTES = 26 + STATE_BYTES;

/** Kept longer than any day lasts and any ban is remembered, so that what expires would have been reset anyway. */
const STATE_TTL_MS = 2 * BAN_MEMORY_MS;

/**
 * The admission: `rule()` of decide.ts for a batch, line by line, with the reading and writing around it.
 *
 * KEYS: the prefix of each subject, once.
 * ARGV[2…]: for each subject the number of its requests, and for each request secret hash, operation,
 * scope with a blank on both sides (or nothing), and mode: `k` or `a` for key or address, the cost,
 * and for tests the time in ms.
 * The plans are part of the text, so that no batch decodes them.
 */
export function admissionScript(plans: Plans, usageDays: number): Script {
  return scriptOf([constants(usageDays), planLookup([...plans.values()]), SETTLE, BAN, RULE, KEY, MAIN].join('\n'));
}

function constants(usageDays: number): string {
  const codes = CODES.map((code, place) => `${code.toUpperCase()} = ${place}`).map((line) => `local ${line}`);
  return `
local ceil, find, match, sub = math.ceil, string.find, string.match, string.sub
local MINUTE, DAY, MAX_LIMIT = ${SHAPES.minute.perMs}, ${SHAPES.day.perMs}, ${MAX_LIMIT}
local STATE_TTL, BAN_MEMORY, USAGE_TTL_S = ${STATE_TTL_MS}, ${BAN_MEMORY_MS}, ${(usageDays + 1) * 86_400}
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
  if now <= at then return level, at end
  if greedy and limit >= 0 then
    local refilled = limit * (now - at)
    if refilled >= level then return 0, now end
    return level - refilled, now
  end
  local over
  if per == DAY then over = floor(now / per) > floor(at / per) else over = now - at >= per end
  if over then level = 0 end
  if level == 0 then at = per == DAY and now - now % per or now end
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
  if now < banned then return BANNED, m, mAt, d, dAt, strikes, since, banned, level end
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
  strikes = strikes + 1
  if strikes < after then return LIMITED, m, mAt, d, dAt, strikes, since, banned, level end
  local again = level > 0 and now - banned < BAN_MEMORY
  level = again and level + 1 or 1
  return BAN_STARTED, m, mAt, d, dAt, 0, since, now + banLength(length, factor, cap, level), level
end
`;

const KEY = `
-- Why a key is not good, or nil. record: plan, status, expires, scopes, minute, day, secrets.
local function unfit(prefix, record, secret, now)
  local secrets = record[7]
  if not secrets then return call('EXISTS', prefix .. 'staged') == 1 and STAGED or UNKNOWN end
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

const MAIN = `
local answers, states, counts = { pack('<d', clock) }, {}, {}
local a = 2
for k = 1, #KEYS do
  local prefix, record, raw = KEYS[k], nil, nil
  local stored, ttl, lastDay, lastField = false, 0, nil, nil
  local m, mAt, d, dAt, strikes, since, banned, level = 0, 0, 0, 0, 0, 0, 0, 0
  local many = tonumber(ARGV[a])
  a = a + 1
  for _ = 1, many do
    local secret, operation, scope, mode = ARGV[a], ARGV[a + 1], ARGV[a + 2], ARGV[a + 3]
    a = a + 4
    local isKey, charge = sub(mode, 1, 1) == 'k', sub(mode, 2, 2) == '1'
    local now = #mode > 2 and tonumber(sub(mode, 3)) or clock
    local code, name = nil, '${ANONYMOUS_PLAN}'
    if isKey then
      record = record or call('HMGET', prefix .. 'key', 'plan', 'status', 'expires', 'scopes', 'minute', 'day', 'secrets')
      code = unfit(prefix, record, secret, now)
      name = record[1]
    end
    local place, minuteLimit, dayLimit, greedy, after, within, length, factor, cap
    if not code then
      place, minuteLimit, dayLimit, greedy, after, within, length, factor, cap = planOf(name)
      if place and minuteLimit == -2 then
        minuteLimit, dayLimit = isKey and ownLimit(record[5]), isKey and ownLimit(record[6])
      end
      if not minuteLimit or not dayLimit then code = NO_PLAN end
    end
    if code then
      answers[#answers + 1] = pack('${ANSWER_FORMAT}', code, 0, now, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0)
    else
      if raw == nil then
        raw = call('GET', prefix .. 'state')
        if raw then m, mAt, d, dAt, strikes, since, banned, level = unpack('${STATE_FORMAT}', raw) end
      end
      local code, m1, mAt1, d1, dAt1, strikes1, since1, banned1, level1 = rule(minuteLimit, dayLimit, greedy, after, within, length, factor, cap, charge, now, m, mAt, d, dAt, strikes, since, banned, level)
      local outcome = code == ADMITTED and 'requests' or code == LIMITED and 'limited' or 'banned'
      if code == ADMITTED and isKey and scope ~= '' and record[4] ~= '*' and not find(record[4], scope, 1, true) then code = OUT_OF_SCOPE end
      local answer = pack('${ANSWER_FORMAT}', code, place, now, minuteLimit, dayLimit, m1, mAt1, d1, dAt1, strikes1, since1, banned1, level1)
      answers[#answers + 1] = answer
      if charge then
        m, mAt, d, dAt, strikes, since, banned, level = m1, mAt1, d1, dAt1, strikes1, since1, banned1, level1
        stored = sub(answer, -${STATE_BYTES})
        ttl = STATE_TTL + within
        if banned > now then ttl = ttl + banned - now end
        if greedy and dayLimit > 0 then ttl = ttl + ceil(d / dayLimit) end
        if isKey then
          local day, field = floor(now / DAY), name .. '|' .. operation .. '|' .. outcome
          if day == lastDay and field == lastField then
            counts[#counts] = counts[#counts] + 1
          else
            lastDay, lastField = day, field
            local n = #counts
            counts[n + 1], counts[n + 2], counts[n + 3] = prefix .. 'usage:' .. day, field, 1
          end
        end
      end
    end
  end
  if stored then
    local n = #states
    states[n + 1], states[n + 2], states[n + 3] = prefix .. 'state', stored, ttl
  end
end
-- All is decided: from here on it is only written.
for n = 1, #states, 3 do call('SET', states[n], states[n + 1], 'PX', states[n + 2]) end
for n = 1, #counts, 3 do
  -- A field that is new may be the first of its day.
  if call('HINCRBY', counts[n], counts[n + 1], counts[n + 2]) == counts[n + 2] then call('EXPIRE', counts[n], USAGE_TTL_S) end
end
return table.concat(answers)
`;
