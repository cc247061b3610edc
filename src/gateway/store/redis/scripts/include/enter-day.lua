-- Enters the day of a ledger in its key, unless it is there (ledger/active-days.ts). The ledger of an archived day is
-- marked: its counts are on top of the archive's, and with the mark it stays permanently, like the archive.
return function(ledger)
  local isArchived = include('is-archived')
  local key, number = string.match(ledger, '^(.*)usage:(%d+)$')
  key, number = key .. 'key', tonumber(number)
  if isArchived(key, number) then call('HSET', ledger, 'on top', '1') end
  if call('HEXISTS', ledger, 'on top') == 1 then call('PERSIST', ledger) end
  local day = pack('<H', number)
  local days = call('HGET', key, 'days') or ''
  for at = 1, #days, 2 do
    if string.sub(days, at, at + 1) == day then return end
  end
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
