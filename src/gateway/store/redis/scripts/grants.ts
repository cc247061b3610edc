import { MAX_LIMIT } from '../../../admission/bucket.js';
import type { Per } from '../../../admission/bucket.js';
import type { Extra } from '../../records/grant.js';

/**
 * Grants as the script reads them, in the field `more` of a key, in its summary, and in the terms of a customer:
 * `<window>:<units>:<until, ms>+` for each. Those that are over stay in the text until the next change, for it is the
 * time of the step that says which are in force.
 */
export function grantsText(grants: readonly Extra[]): string {
  return grants.map(({ window, units, untilMs }) => `${window}:${units}:${untilMs}+`).join('');
}

/** The grants in such a text. */
export function grantsIn(text: string): readonly Extra[] {
  return [...text.matchAll(/(\w+):(\d+):(\d+)\+/g)].map(([, window, units, until]) => ({
    window: window as Per,
    units: Number(units),
    untilMs: Number(until),
  }));
}

/** Added to the code of an answer in which, right after the state, the length and the text of grants stand. */
export const GRANTS_FLAG = 32;
const ENDS = '+'.charCodeAt(0);

/**
 * Lua: the grants of the key or of its customer into `grants`, nil where there are none, and what stands before them
 * in the summary into `own`. A key without any pays for a look at the last byte of its summary.
 */
export const READ_GRANTS = `
  local own, grants, minuteBase, dayBase, monthBase = summary
  if customer then grants = customer.grants elseif own and string.byte(own, -1) == ${ENDS} then own, grants = string.match(own, '^(.*)%z([^%z]+)$') end`;

/** Lua: puts the limits without grants aside. */
export const KEEP_BASE = `
  if grants then minuteBase, dayBase, monthBase = minuteLimit, dayLimit, monthLimit end`;

/** Lua: `withGrants()` of grant.ts for `now`, into `minuteLimit`, `dayLimit` and `monthLimit`; for `settlePast()` what came back, into `minuteBack` and `dayBack`. */
export const RAISE_LIMITS = `
      local minuteBack, dayBack
      if grants then
        minuteLimit, dayLimit, monthLimit, minuteBack, dayBack = minuteBase, dayBase, monthBase, 0, 0
        for window, units, untilMs in string.gmatch(grants, '(%l+):(%d+):(%d+)%+') do
          units, untilMs = tonumber(units), tonumber(untilMs)
          if window == 'month' then
            if monthBase and monthBase >= 0 and now < untilMs then monthLimit = math.min(monthLimit + units, ${MAX_LIMIT}) end
          elseif window == 'day' then
            if dayBase >= 0 and now < untilMs then
              dayLimit = math.min(dayLimit + units, ${MAX_LIMIT})
            elseif dayBase >= 0 and greedy and untilMs > dAt then
              dayBack = dayBack + units * (untilMs - dAt)
            end
          elseif minuteBase >= 0 and now < untilMs then
            minuteLimit = math.min(minuteLimit + units, ${MAX_LIMIT})
          elseif minuteBase >= 0 and greedy and untilMs > mAt then
            minuteBack = minuteBack + units * (untilMs - mAt)
          end
        end
      end`;

/** Lua: takes off what came back of grants that are over, before `m1` and `d1` are settled. */
export const SETTLE_PAST = `
      if grants then m1, d1 = math.max(0, m1 - minuteBack), math.max(0, d1 - dayBack) end`;

/** Lua: what the answer says of grants, after the state in `answer`. */
export const TELL_GRANTS = `
      if grants then code, answer = code + ${GRANTS_FLAG}, answer .. pack('<I2', #grants) .. grants end`;
