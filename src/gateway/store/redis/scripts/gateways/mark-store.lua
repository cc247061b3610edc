-- KEYS[1]: a mark. ARGV: the ID to set if it has none; another ID to add, or empty; the environment to set if it has
-- none, or empty; then fields and values to set with the ID. Returns the mark's ID.
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
return id
