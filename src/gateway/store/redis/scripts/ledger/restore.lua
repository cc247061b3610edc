-- KEYS: a ledger and its key. ARGV: seconds it is kept, fields and counts, added unless they are in it.
local enterDay = include('enter-day')
if call('HDEL', KEYS[1], 'on top') == 1 then
  for n = 3, #ARGV, 2 do call('HINCRBY', KEYS[1], ARGV[n], ARGV[n + 1]) end
  call('EXPIRE', KEYS[1], ARGV[2])
  enterDay(KEYS[1])
end
return pack('<d', clock) .. '1'
