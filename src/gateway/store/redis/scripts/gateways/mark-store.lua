-- KEYS[1]: a mark. ARGV: the id it gets where it has none, and one that is to be known by it too, or nothing.
-- Answers the id that it has.
local id, also = spread(call('HMGET', KEYS[1], 'id', 'also'))
if not id then
  id = ARGV[2]
  call('HSET', KEYS[1], 'id', id)
end
also = also or ''
if ARGV[3] ~= '' and ARGV[3] ~= id and not string.find(also, ARGV[3], 1, true) then
  call('HSET', KEYS[1], 'also', also .. ' ' .. ARGV[3])
end
return pack('<d', clock) .. id
