-- KEYS: the hash of a key or a customer, and the entries of its events. ARGV: of each event its field, id and entry,
-- empty where it has one. What is there as an entry stays: it may have been tried already.
for n = 2, #ARGV, 3 do
  if call('HDEL', KEYS[1], ARGV[n]) == 1 and ARGV[n + 2] ~= '' and call('HEXISTS', KEYS[2], ARGV[n + 1]) == 0 then
    call('HSET', KEYS[2], ARGV[n + 1], ARGV[n + 2])
  end
end
local fields = call('HGETALL', KEYS[1])
for n = 1, #fields, 2 do
  if string.sub(fields[n], 1, 5) == 'tell-' then return pack('<d', clock) .. '1' end
end
call('HDEL', KEYS[1], 'telling')
return pack('<d', clock) .. '1'
