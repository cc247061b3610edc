-- Reads the state of a subject (store/state.ts) from its bytes. `month` is the units spent, `monthOf` the day on which
-- the month began.
return function(raw)
  if not raw then return 0, 0, 0, 0, 0, 0, 0, 0, 0, 0 end
  local minute, minuteAt, day, dayAt, strikes, level, mark, since, banned, month, monthOf = unpack(STATE_FORMAT, raw)
  if mark ~= STATE_MARK then
    minute, minuteAt, day, dayAt, strikes, since, banned, level = unpack('<dddddddd', raw)
    month, monthOf = 0, 0
  end
  return minute, minuteAt, day, dayAt, month, monthOf, strikes, level, since, banned
end
