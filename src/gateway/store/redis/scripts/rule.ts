import { MAX_LIMIT, SHAPES } from '../../../admission/bucket.js';
import type { BucketShape } from '../../../admission/bucket.js';
import { BAN_MEMORY_MS } from '../../../admission/plan.js';
import { NOTE_BAN, NOTE_CROSSED } from '../outbox/crossed.js';
import { SETTLE_WINDOWS, SPEND_WINDOWS } from './windows.js';
import { CODE } from './codes.js';
import { SETTLE_PAST } from './grants.js';

const {
  minute: { perMs: MINUTE },
  day: { perMs: DAY },
} = SHAPES;

/** Lua: `settle()` of bucket.ts, on these names. */
function settle(level: string, at: string, limit: string, { per, perMs }: BucketShape): string {
  const start = per === 'day' ? `now - now % ${perMs}` : 'now';
  // The window of a calendar begins with it, so that a time before the present one's start is of an earlier one.
  const over = per === 'day' ? `${at} < ${start}` : `now - ${at} >= ${perMs}`;
  return `
      if greedy and ${limit} >= 0 then
        local refilled = now > ${at} and ${limit} * (now - ${at}) or 0
        if refilled >= ${level} then ${level} = 0 else ${level} = ${level} - refilled end
        ${at} = now
      else
        if ${over} then ${level} = 0 end
        if ${level} == 0 or ${at} > now then ${at} = ${start} end
      end`;
}

function spend(level: string, perMs: number): string {
  return `
          ${level} = ${level} + cost * ${perMs}
          if ${level} > ${MAX_LIMIT * perMs} then ${level} = ${MAX_LIMIT * perMs} end`;
}

/** Lua: `banLengthMs()` of decide.ts for level1, into `ms`. */
const BAN_LENGTH = `
          local ms = length
          for _ = 2, level1 do
            if ms >= cap then break end
            ms = floor(ms * factor)
          end
          if ms > cap then ms = cap end`;

/**
 * Lua: `rule()` of decide.ts. From the state and the terms to `code`, `outcome` (of the ledger's field) and the state as settled and charged.
 * @param tells whether what is crossed, and a ban that begins, is noted
 */
export function ruleOf(tells: boolean): string {
  return `
      local m1, mAt1, d1, dAt1, used1, strikes1, since1, banned1, level1 = m, mAt, d, dAt, used, strikes, since, banned, level
      ${SETTLE_PAST}
      ${settle('m1', 'mAt1', 'minuteLimit', SHAPES.minute)}
      ${settle('d1', 'dAt1', 'dayLimit', SHAPES.day)}
      if usedOf < month then used1 = 0 end
      local tokens, fits = charge and cost or 1, true
      ${SETTLE_WINDOWS}
      if now < banned1 then
        code, outcome = ${CODE.banned}, '|banned'
        if since1 > 0 then
          ${BAN_LENGTH}
          if banned1 > now + ms then banned1 = now + ms end
        end
      elseif fits and (minuteLimit < 0 or m1 + tokens * ${MINUTE} <= minuteLimit * ${MINUTE}) and (dayLimit < 0 or d1 + tokens * ${DAY} <= dayLimit * ${DAY}) and (not monthLimit or monthLimit < 0 or used1 + tokens <= monthLimit) then
        code, outcome = ${CODE.admitted}, '|requests'
        if charge then
          ${spend('m1', MINUTE)}
          ${spend('d1', DAY)}
          ${spend('used1', 1)}
          ${SPEND_WINDOWS}
          ${tells ? NOTE_CROSSED : ''}
        end
      else
        code, outcome = ${CODE.limited}, '|limited'
        local isStrike = charge and (minuteLimit < 0 or tokens <= minuteLimit) and (dayLimit < 0 or tokens <= dayLimit) and (not monthLimit or monthLimit < 0 or tokens <= monthLimit)
        if extras then
          for n = 3, #w, 3 do
            if w[n] >= 0 and tokens > w[n] then isStrike = false end
          end
        end
        if isStrike then
          if strikes1 == 0 or now - since1 >= within then strikes1, since1 = 0, now end
          if since1 > now then since1 = now end
          strikes1 = strikes1 + 1
          if strikes1 >= after then
            if level1 > 0 and now - banned1 < ${BAN_MEMORY_MS} then level1 = level1 + 1 else level1 = 1 end
            ${BAN_LENGTH}
            code, outcome, strikes1, banned1 = ${CODE.ban_started}, '|banned', 0, now + ms
            ${tells ? NOTE_BAN : ''}
          end
        end
      end`;
}

/** Lua: when a window is full again by itself; unlimited ones have nothing to remember. */
function fullAt(level: string, at: string, limit: string, { per, perMs }: BucketShape): string {
  return `
      if ${level} > 0 and ${limit} >= 0 then
        if greedy and ${limit} > 0 then
          endsAt = max(endsAt, ${at} + math.ceil(${level} / ${limit}))
        else
          endsAt = max(endsAt, ${per === 'day' ? `${at} - ${at} % ${perMs}` : at} + ${perMs})
        end
      end`;
}

/** Lua: when the state of an address says no more than none would, into `endsAt`. */
export const ADDRESS_ENDS = `
      endsAt = 0
      ${fullAt('m', 'mAt', 'minuteLimit', SHAPES.minute)}
      ${fullAt('d', 'dAt', 'dayLimit', SHAPES.day)}
      if strikes > 0 then endsAt = max(endsAt, since + within) end
      if level > 0 then endsAt = max(endsAt, banned + ${BAN_MEMORY_MS}) end`;
