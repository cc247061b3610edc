-- KEYS: a ledger and its key. ARGV: seconds to keep it, then fields and counts from the archive. Makes the ledger
-- whole: adds these to the counts that are on top of the archive.
local enterDay = include('enter-day')
local isArchived = include('is-archived')
local setArchived = include('set-archived')
local isOnTop = call('HDEL', KEYS[1], 'on top') == 1
local isAdded = isArchived(KEYS[2], tonumber(string.match(KEYS[1], '%d+$'))) or isOnTop
for n = 3, #ARGV, 2 do
  if isAdded then
    call('HINCRBY', KEYS[1], ARGV[n], ARGV[n + 1])
  elseif tonumber(call('HGET', KEYS[1], ARGV[n]) or '0') < tonumber(ARGV[n + 1]) then
    call('HSET', KEYS[1], ARGV[n], ARGV[n + 1])
  end
end
setArchived(KEYS[2], KEYS[1], false)
call('EXPIRE', KEYS[1], ARGV[2])
enterDay(KEYS[1])
