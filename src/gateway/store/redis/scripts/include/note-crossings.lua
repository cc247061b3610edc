-- Notes each share in `warnAt` (percent, one byte each) of a limit that lies between two levels; a partly used unit
-- counts as used. Appends to `notes`, in threes: a hash, a field and its value, to be written later. `number`
-- identifies the window in a mark; `began` is the day on which the window began, 0 for a balance.
--
-- A mark in the field `told` has ten bytes: number of the window, percent, the day it began and the limit; six fit into
-- a field of 64 bytes. A limit of more than four bytes, which only a balance has, continues in place of the day.
-- `marks` is that field as it will be, nil before it is read. Returns it, and whether something was noted.
return function(notes, marks, payer, warnAt, window, number, before, after, parts, limit, began, now, plan, key)
  local isNoted = false
  for n = 1, #warnAt do
    local share = string.byte(warnAt, n)
    local level = (math.ceil(limit * share / 100) - 1) * parts
    if before <= level and level < after then
      marks = marks or call('HGET', payer, 'told') or ''
      local mark = pack('<BBI4I4', number, share, began + floor(limit / 2 ^ 32), limit % 2 ^ 32)
      local kept, isKnown = '', false
      for from = 1, #marks, 10 do
        local each = string.sub(marks, from, from + 9)
        local its, _, since = unpack('<BBI4', each)
        if each == mark then isKnown = true end
        -- Drops the marks of windows that are over, and of other balances: nothing more is noted for them.
        local isOver = since < began or number == 3 and string.sub(each, 3) ~= string.sub(mark, 3)
        if its ~= number or not isOver then kept = kept .. each end
      end
      if not isKnown then
        marks, isNoted = kept .. mark, true
        local at = #notes
        notes[at + 1], notes[at + 2], notes[at + 3] = payer, 'told', marks
        notes[at + 4], notes[at + 5] = payer, 'tell-' .. window .. '-' .. began .. '-' .. share .. '-' .. limit
        notes[at + 6] = math.ceil(after / parts) .. ' ' .. string.format('%.0f', now) .. ' ' .. plan .. ' ' .. key
      end
    end
  end
  return marks, isNoted
end
