-- Counts a failure report once: Redis keeps the number of each reporter's last report of the day. Counts that come
-- before their key is known are marked, so that an import adds to them.
--
-- KEYS: the key's failure reports (`credits`) of the day, its ledger and the key. ARGV: seconds to keep a ledger,
-- reporter, number, ms to remember the number, then fields and counts.
local enterDay = include('enter-day')
local counted = call('HGET', KEYS[1], ARGV[3])
if not counted or tonumber(counted) < tonumber(ARGV[4]) then
  local isEarly = call('HEXISTS', KEYS[3], 'version') == 0 and call('EXISTS', KEYS[2]) == 0
  for n = 6, #ARGV, 2 do call('HINCRBY', KEYS[2], ARGV[n], ARGV[n + 1]) end
  if isEarly then call('HSET', KEYS[2], 'on top', '1') end
  if call('TTL', KEYS[2]) < 0 then call('EXPIRE', KEYS[2], ARGV[2]) end
  enterDay(KEYS[2])
  call('HSET', KEYS[1], ARGV[3], ARGV[4])
  call('PEXPIRE', KEYS[1], ARGV[5])
end
return pack('<d', clock) .. '1'
