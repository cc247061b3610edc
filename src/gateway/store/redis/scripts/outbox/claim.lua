-- KEYS: arrivals, and the queue. ARGV: how many, lease in ms. Moves due arrivals into the queue and returns what is
-- due there. An event that is in the queue already keeps its time: it may be leased, or postponed.
local arrived = call('ZRANGEBYSCORE', KEYS[1], '-inf', clock, 'WITHSCORES', 'LIMIT', 0, ARRIVALS_AT_ONCE)
for n = 1, #arrived, 2 do
  call('ZADD', KEYS[2], 'NX', arrived[n + 1], arrived[n])
  call('ZREM', KEYS[1], arrived[n])
end
local ids = call('ZRANGEBYSCORE', KEYS[2], '-inf', clock, 'LIMIT', 0, ARGV[2])
for _, id in ipairs(ids) do call('ZADD', KEYS[2], clock + ARGV[3], id) end
return ' ' .. table.concat(ids, ' ')
