-- KEYS: what has arrived, and the queue. ARGV: how many, lease in ms. Answers what is due in the queue, after arrivals
-- that are due have gone there. One that is there already keeps its time: it may be leased, or wait.
local arrived = call('ZRANGEBYSCORE', KEYS[1], '-inf', clock, 'WITHSCORES', 'LIMIT', 0, ARRIVALS_AT_ONCE)
for n = 1, #arrived, 2 do
  call('ZADD', KEYS[2], 'NX', arrived[n + 1], arrived[n])
  call('ZREM', KEYS[1], arrived[n])
end
local ids = call('ZRANGEBYSCORE', KEYS[2], '-inf', clock, 'LIMIT', 0, ARGV[2])
for _, id in ipairs(ids) do call('ZADD', KEYS[2], clock + ARGV[3], id) end
return pack('<d', clock) .. ' ' .. table.concat(ids, ' ')
