-- KEYS[1]: the set of gateways. ARGV: an ID, how long it may be silent, ms, and `1` to stay or `0` to deregister.
-- Returns the number of gateways.
call('ZREMRANGEBYSCORE', KEYS[1], '-inf', clock - ARGV[3])
if ARGV[4] == '1' then call('ZADD', KEYS[1], clock, ARGV[2]) else call('ZREM', KEYS[1], ARGV[2]) end
call('PEXPIRE', KEYS[1], ARGV[3])
return string.format('%.0f', call('ZCOUNT', KEYS[1], '-inf', '+inf'))
