-- KEYS: the customers and the queue of one. ARGV: the customer, in how many ms it is due at the soonest, and at the
-- latest.
local head = call('ZRANGE', KEYS[2], 0, 0, 'WITHSCORES')
if head[2] then
  call('ZADD', KEYS[1], math.max(math.min(head[2], clock + ARGV[4]), clock + ARGV[3]), ARGV[2])
else
  call('ZREM', KEYS[1], ARGV[2])
end
return pack('<d', clock) .. '1'
