import { MAX_LIMIT, SHAPES } from '../../../admission/bucket.js';
import type { Limit, Per } from '../../../admission/bucket.js';
import type { Plan } from '../../../admission/plan.js';
import { windowsOf } from '../../../admission/windows.js';
import type { Window } from '../../../admission/windows.js';
import { WINDOW_FORMAT } from '../state.js';
import { OWN_MONTH_FLAG } from './codes.js';

/**
 * Lua for operations' own windows: `windows.ts` of the admission, line by line. All of it stands in branches
 * on `extras`, which is nil for keys whose plan says nothing of operations. A window is three places in the list `w`: its name,
 * a number for what it counts per, and its limit (-1: unlimited); at the same places `wl`, `wa` and `wp` hold its level, moment and
 * parts a token.
 */
const NUMBER: Readonly<Record<Per, number>> = { minute: 1, day: 2, month: 3 };
/** The last letter of a window's name says what it counts per. */
const MINUTE_ENDS = 'e'.charCodeAt(0);
export const MONTH_ENDS = 'h'.charCodeAt(0);
const { minute, day } = SHAPES;

/** Lua: the windows that are remembered of the key `name`, or of its customer `owner`, into `levels` and `ats` by their names. */
export const READ_WINDOWS = `
  local levels, ats, hasNewWindows
  if extras and customer and customer.levels then
    levels, ats = customer.levels, customer.ats
  elseif extras then
    levels, ats = {}, {}
    if customer then customer.levels, customer.ats = levels, ats end
    local text, from = call('HGET', owner or name, 'windows'), 1
    while text and from <= #text do
      local window, windowLevel, windowAt
      window, windowLevel, windowAt, from = unpack('${WINDOW_FORMAT}', text, from)
      levels[window], ats[window] = windowLevel, windowAt
    end
  end`;

/** Lua: of the operation `ARGV[operation]` the windows of its own, into `w`, and its `cost` on this plan. */
export const WINDOWS_OF_OPERATION = `
      if extras then w, cost = extras(ARGV[operation], cost) end`;

/**
 * Lua: from an operation and its cost to its windows on this plan and what it costs there. A function in the branch of
 * the plan: made only for keys on it, and what it says doesn't lengthen the branch, which Lua bounds.
 */
export function windowsFunction(plan: Plan): string {
  const limits = { minute: 1, day: 1 };
  const listOf = (operation: string): string =>
    `{ ${windowsOf({ limits, operations: plan.operations }, operation).map(windowText).join(', ')} }`;
  const named = [...(plan.operations ?? [])].map(([operation, { cost }]) => {
    const charged = cost === null ? 'cost' : `cost > 0 and ${cost} or cost`;
    return `if asked == ${luaString(operation)} then return ${listOf(operation)}, ${charged} end `;
  });
  return `function(asked, cost) ${named.join('')}return ${listOf('')}, cost end`;
}

function windowText({ name, per, limit }: Window): string {
  return `${luaString(name)}, ${NUMBER[per]}, ${luaLimit(limit)}`;
}

export function luaLimit(limit: Limit): number {
  return limit === 'unlimited' ? -1 : limit;
}

/** Whatever is no plain letter is escaped: no name can end the string. */
export function luaString(text: string): string {
  const bytes = [...Buffer.from(text)].map((byte) => {
    const letter = String.fromCharCode(byte);
    return /[\w-]/.test(letter) ? letter : `\\${byte.toString().padStart(3, '0')}`;
  });
  return `'${bytes.join('')}'`;
}

/** Days from 1 March of the year 0 to 1 January 1970, and in 400 years: the calendar repeats after them. */
const DAYS_BEFORE_1970 = 719_468;
const DAYS_IN_ERA = 146_097;

/**
 * Lua: `monthStartMs()` of utc-month.ts for `now`, into `month`, as the number of its day. With whole numbers, since Redis has no calendar:
 * years are counted from March on, so that a leap day is the last of its year.
 */
export const MONTH_START = `
        local today = floor(now / ${day.perMs})
        local ofEra = (today + ${DAYS_BEFORE_1970}) % ${DAYS_IN_ERA}
        local year = floor((ofEra - floor(ofEra / 1460) + floor(ofEra / 36524) - floor(ofEra / 146096)) / 365)
        local ofYear = ofEra - (365 * year + floor(year / 4) - floor(year / 100))
        month = today - ofYear + floor((153 * floor((5 * ofYear + 2) / 153) + 2) / 5)`;

/** Lua: settles the windows of `w`; `fits` is false when one does not hold `tokens`. */
export const SETTLE_WINDOWS = `
      if extras then
        wl, wa, wp = {}, {}, {}
        local monthAt = month * ${day.perMs}
        for n = 1, #w, 3 do
          local per, limit, parts, l, a = w[n + 1], w[n + 2], 1, levels[w[n]] or 0, ats[w[n]] or 0
          if per == ${NUMBER.month} then
            if a < monthAt then l = 0 end
            if l == 0 or a > now then a = monthAt end
          else
            parts = per == ${NUMBER.minute} and ${minute.parts} or ${day.parts}
            if now - a >= parts then l = 0 end
            if greedy and limit >= 0 then
              local refilled = now > a and limit * (now - a) or 0
              if refilled >= l then l = 0 else l = l - refilled end
              a = now
            else
              local start = per == ${NUMBER.minute} and now or now - now % ${day.perMs}
              if per == ${NUMBER.day} and a < start then l = 0 end
              if l == 0 or a > now then a = start end
            end
          end
          wl[n], wa[n], wp[n] = l, a, parts
          if limit >= 0 and l + tokens * parts > limit * parts then fits = false end
        end
      end`;

/** Lua: `spend()` of bucket.ts for the windows of `w`. */
export const SPEND_WINDOWS = `
          if extras then
            for n = 1, #w, 3 do
              wl[n] = wl[n] + cost * wp[n]
              if wl[n] > ${MAX_LIMIT} * wp[n] then wl[n] = ${MAX_LIMIT} * wp[n] end
            end
          end`;

/** Lua: remembers the windows of `w`, and forgets all that are over: `closeWindows()`. */
export const KEEP_WINDOWS = `
        if extras then
          for n = 1, #w, 3 do levels[w[n]], ats[w[n]] = wl[n], wa[n] end
          for window, l in pairs(levels) do
            local a, ends = ats[window], string.byte(window, -1)
            local over = ends == ${MONTH_ENDS} and a < month * ${day.perMs} or ends ~= ${MONTH_ENDS} and now - a >= (ends == ${MINUTE_ENDS} and ${minute.perMs} or ${day.perMs})
            if l == 0 or over then levels[window] = nil end
          end
          hasNewWindows = true
        end`;

/** Lua: what the answer says of the windows, after the state in `answer`. */
export const TELL_WINDOWS = `
      if ownMonth then code, answer = code + ${OWN_MONTH_FLAG}, answer .. pack('<d', ownMonth) end
      if extras then
        for n = 1, #w, 3 do answer = answer .. pack('<dd', wl[n], wa[n]) end
      end`;

/** Lua: the windows as they are written down, into `windows`; false where they stay. */
export const WRITTEN_WINDOWS = `
    local windows = false
    if hasNewWindows then
      local parts = {}
      for window, l in pairs(levels) do parts[#parts + 1] = pack('${WINDOW_FORMAT}', #window, window, l, ats[window]) end
      windows = table.concat(parts)
    end`;
