-- KEYS: a ledger and its key. ARGV: seconds to keep it, `1` if what follows is on top of the archive, then fields and
-- counts. The ledger then has at least these counts. Counts that came before their key was known are not among these:
-- they are added, once. Returns `1` if a count grew, `0` if none did, and `2`, having done nothing, if the caller must
-- compare the archive, because one side is on top of it and the other is whole.
local enterDay = include('enter-day')
local isArchived = include('is-archived')
local isWholeGiven = ARGV[3] == '0'
local hasArchived = isArchived(KEYS[2], tonumber(string.match(KEYS[1], '%d+$')))
local isOnTop = call('HEXISTS', KEYS[1], 'on top') == 1
local isWhole = not isOnTop and call('EXISTS', KEYS[1]) == 1
if isWholeGiven and hasArchived or not isWholeGiven and isWhole then return '2' end
local isAdded, grown = isWholeGiven and isOnTop, '0'
if isAdded then call('HDEL', KEYS[1], 'on top') end
for n = 4, #ARGV, 2 do
  local here, given = tonumber(call('HGET', KEYS[1], ARGV[n]) or '0'), tonumber(ARGV[n + 1])
  if isAdded then given = here + given end
  if here < given then
    call('HSET', KEYS[1], ARGV[n], string.format('%.0f', given))
    grown = '1'
  end
end
if not isWholeGiven and #ARGV > 3 then call('HSET', KEYS[1], 'on top', '1') end
if call('TTL', KEYS[1]) < 0 then call('EXPIRE', KEYS[1], ARGV[2]) end
enterDay(KEYS[1])
return grown
