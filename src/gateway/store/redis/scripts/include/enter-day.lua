-- Enters the day of a ledger with its key, unless it is there (ledger/active-days.ts).
return function(ledger)
  local key, day = string.match(ledger, '^(.*)usage:(%d+)$')
  key, day = key .. 'key', pack('<H', tonumber(day))
  local days = call('HGET', key, 'days') or ''
  for at = 1, #days, 2 do
    if string.sub(days, at, at + 1) == day then return end
  end
  if call('EXISTS', key) == 0 then return end
  days = days .. day
  if #days > 2 * MAX_DAYS then
    local earliest, earliestAt = 65536, 1
    for at = 1, #days, 2 do
      local each = unpack('<H', days, at)
      if each < earliest then earliest, earliestAt = each, at end
    end
    days = string.sub(days, 1, earliestAt - 1) .. string.sub(days, earliestAt + 2)
  end
  call('HSET', key, 'days', days)
end
