import { STATE_MARK } from '../state.js';

/** Lua `struct` of a subject's state (../state.ts). Binary, because formatting and reading numbers as text costs more than the decision. */
const FORMAT = '<ddddI3I3HddI4I4';
const FORMAT_BEFORE = '<dddddddd';

/** One of an operation's own windows, as they stand in the field `windows`: length of its name, the name, level and at. */
export const WINDOW_FORMAT = '<Bc0dd';

/**
 * Lua: the state `raw`, if there is one, into `m`, `mAt`, `d`, `dAt`, `strikes`, `level`, `since`, `banned`, `used` (of the
 * month) and `usedOf` (number of the day on which that began), which are made.
 */
export function readStateOf(raw: string): string {
  return `
  local m, mAt, d, dAt, strikes, level, since, banned, used, usedOf, mark = 0, 0, 0, 0, 0, 0, 0, 0, 0, 0
  if ${raw} then
    m, mAt, d, dAt, strikes, level, mark, since, banned, used, usedOf = unpack('${FORMAT}', ${raw})
    if mark ~= ${STATE_MARK} then
      m, mAt, d, dAt, strikes, since, banned, level = unpack('${FORMAT_BEFORE}', ${raw})
      used, usedOf = 0, 0
    end
  end`;
}

/** Lua: a state, of expressions in the order of `readStateOf`. */
export function packedState(...parts: readonly string[]): string {
  return `pack('${FORMAT}', ${[...parts.slice(0, 6), STATE_MARK, ...parts.slice(6)].join(', ')})`;
}
