-- Notes each share in `warnAt` (percent, one byte each) of a limit that lies between two levels; a partly used unit
-- counts as used. Appends to `notes`, in threes: a hash, a field and its value, to be written later. `number`
-- identifies the window in a mark; `began` is the day on which the window began.
--
-- A mark in the field `told` has ten bytes: number of the window, percent, the day it began and the limit; six fit into
-- a field of 64 bytes. `marks` is that field as it will be, nil before it is read. Returns it, and whether something
-- was noted.
return function(notes, marks, payer, warnAt, window, number, before, after, parts, limit, began, now, plan, key)
  local isNoted = false
  for n = 1, #warnAt do
    local share = string.byte(warnAt, n)
    local level = (math.ceil(limit * share / 100) - 1) * parts
    if before <= level and level < after then
      marks = marks or call('HGET', payer, 'told') or ''
      local mark, kept, isKnown = pack('<BBI4I4', number, share, began, limit), '', false
      for from = 1, #marks, 10 do
        local each = string.sub(marks, from, from + 9)
        local its, _, since = unpack('<BBI4', each)
        if each == mark then isKnown = true end
        -- Drops the marks of windows that are over: nothing more is noted for them.
        if its ~= number or since >= began then kept = kept .. each end
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
