-- KEYS[1]: a mark. ARGV: the id it gets where it has none, one that is to be known by it too, or nothing, the
-- environment that it gets where it has none, or nothing, then fields and values that it gets with its id.
-- Answers the id that it has.
local id, also, environment = spread(call('HMGET', KEYS[1], 'id', 'also', 'environment'))
if not id then
  id = ARGV[2]
  call('HSET', KEYS[1], 'id', id, spread(ARGV, 5))
end
also = also or ''
if ARGV[3] ~= '' and ARGV[3] ~= id and not string.find(also, ARGV[3], 1, true) then
  call('HSET', KEYS[1], 'also', also .. ' ' .. ARGV[3])
end
if ARGV[4] ~= '' and not environment then call('HSET', KEYS[1], 'environment', ARGV[4]) end
return pack('<d', clock) .. id
