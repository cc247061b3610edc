-- KEYS: a key or a customer, and its history. ARGV: the version, the state and the windows that were read of it
-- (nothing where there were none), how many entries were read of its history, how many it has from now on, these, then
-- fields and values. Answers `1`, or `0` when anything was another meanwhile.
local name, history = KEYS[1], KEYS[2]
local found = call('HMGET', name, 'version', 'state', 'windows')
for n = 1, 3 do
  if (found[n] or '') ~= ARGV[n + 1] then return pack('<d', clock) .. '0' end
end
if found[1] and #call('LRANGE', history, 0, -1) ~= tonumber(ARGV[5]) then return pack('<d', clock) .. '0' end
call('DEL', history)
local at = 7
for _ = 1, ARGV[6] do
  call('RPUSH', history, ARGV[at])
  at = at + 1
end
if ARGV[at] then call('HSET', name, spread(ARGV, at)) end
return pack('<d', clock) .. '1'
