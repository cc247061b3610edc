-- KEYS[1]: a queue. ARGV: how many, lease in ms. Answers what is due in it.
local ids = call('ZRANGEBYSCORE', KEYS[1], '-inf', clock, 'LIMIT', 0, ARGV[2])
for _, id in ipairs(ids) do call('ZADD', KEYS[1], clock + ARGV[3], id) end
return pack('<d', clock) .. ' ' .. table.concat(ids, ' ')
