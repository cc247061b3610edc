-- KEYS: a ledger and its key. ARGV: seconds it is kept, `1` when it comes on top of what the archive has, fields and
-- counts, each of which it has at least from now on. Answers `1` when one of them grew, else `0`.
local enterDay = include('enter-day')
local grown = '0'
for n = 4, #ARGV, 2 do
  if tonumber(call('HGET', KEYS[1], ARGV[n]) or '0') < tonumber(ARGV[n + 1]) then
    call('HSET', KEYS[1], ARGV[n], ARGV[n + 1])
    grown = '1'
  end
end
if ARGV[3] == '1' then
  call('HSET', KEYS[1], 'on top', '1')
  call('PERSIST', KEYS[1])
elseif call('TTL', KEYS[1]) < 0 and call('HEXISTS', KEYS[1], 'on top') == 0 then
  call('EXPIRE', KEYS[1], ARGV[2])
end
enterDay(KEYS[1])
return pack('<d', clock) .. grown
