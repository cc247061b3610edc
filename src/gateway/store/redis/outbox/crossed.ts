import { SHAPES } from '../../../admission/bucket.js';
import type { WarnedWindow } from '../../outbox/event.js';

/**
 * Lua that notes crossings (pending.ts). A mark in `told` is ten bytes: a number for the window, percent, the day it began
 * and the limit; six of them fit into a field of 64 bytes.
 */
const MARK_FORMAT = '<BBI4I4';
const MARK_HEAD = '<BBI4';
const MARK_BYTES = 10;
const NUMBER: Readonly<Record<WarnedWindow, number>> = { day: 1, month: 2 };

/** Expressions of Lua. */
interface Crossed {
  readonly window: WarnedWindow;
  /** Levels without and with what was just spent, and how many parts of one a unit is. */
  readonly before: string;
  readonly after: string;
  readonly parts: number;
  /** A number; not below 0. */
  readonly limit: string;
  /** When the window began, ms. */
  readonly start: string;
  /** The names of the hash in which it is noted, and of the key. */
  readonly payer: string;
  readonly key: string;
  readonly plan: string;
}

/**
 * Lua: notes each share of `warnAt` (percent, a byte each) that was crossed from one level to another: a unit of which
 * only a part is used counts as used. Into `notes`, in threes a hash,
 * a field and its value, all still to be written. `marks` is `told` as it will be then, and nil until it was read.
 */
export function noteCrossed({ window, before, after, parts, limit, start, payer, key, plan }: Crossed): string {
  return `
            for n = 1, #warnAt do
              local share = string.byte(warnAt, n)
              local level = (math.ceil(${limit} * share / 100) - 1) * ${parts}
              if ${before} <= level and level < ${after} then
                marks = marks or call('HGET', ${payer}, 'told') or ''
                local began = floor((${start}) / ${SHAPES.day.perMs})
                local mark, kept, isTold = pack('${MARK_FORMAT}', ${NUMBER[window]}, share, began, ${limit}), '', false
                for from = 1, #marks, ${MARK_BYTES} do
                  local each = string.sub(marks, from, from + ${MARK_BYTES - 1})
                  local its, _, day = unpack('${MARK_HEAD}', each)
                  if each == mark then isTold = true end
                  if its ~= ${NUMBER[window]} or day >= began then kept = kept .. each end
                end
                if not isTold then
                  marks = kept .. mark
                  notes, isNoted = notes or {}, true
                  local at = #notes
                  notes[at + 1], notes[at + 2], notes[at + 3] = ${payer}, 'told', marks
                  notes[at + 4], notes[at + 5], notes[at + 6] = ${payer}, 'tell-${window}-' .. began .. '-' .. share .. '-' .. ${limit}, math.ceil(${after} / ${parts}) .. ' ' .. string.format('%.0f', now) .. ' ' .. ${plan} .. ' ' .. ${key}
                end
              end
            end`;
}

const { day } = SHAPES;
const HERE = { payer: 'owner or name', key: 'name', plan: 'plan' };

/**
 * Lua: which shares of day and month this request crossed. Only what used the least share of them already is looked at
 * closely; `dayWarn` is its level of the day, nil where nothing is warned of.
 */
export const NOTE_CROSSED = `
          if dayWarn and d1 > dayWarn then
            ${noteCrossed({ window: 'day', before: `d1 - cost * ${day.parts}`, after: 'd1', parts: day.parts, limit: 'dayLimit', start: 'now', ...HERE })}
          end
          if monthLimit and warnAt and monthLimit >= 0 and used1 >= math.ceil(monthLimit * string.byte(warnAt) / 100) then
            ${noteCrossed({ window: 'month', before: 'used1 - cost', after: 'used1', parts: 1, limit: 'monthLimit', start: `month * ${day.perMs}`, ...HERE })}
          end`;

/** Lua: notes the ban until `banned1` of the key `name`, as `noteCrossed` does. */
export const NOTE_BAN = `
            if kind > 0 then
              notes, isNoted = notes or {}, true
              local at = #notes
              notes[at + 1], notes[at + 2], notes[at + 3] = name, 'tell-ban-' .. string.format('%.0f', banned1), level1 .. ' ' .. string.format('%.0f', now) .. ' ' .. plan
            end`;

/** Lua: writes what was noted. A note that is there says the same: it is of a clock that stepped back. */
export const WRITE_NOTES = `
if notes then
  for n = 1, #notes, 3 do
    if notes[n + 1] == 'told' or call('HEXISTS', notes[n], notes[n + 1]) == 0 then
      call('HSET', notes[n], notes[n + 1], notes[n + 2], 'telling', '1')
    end
  end
end`;
