-- KEYS[1]: the log. ARGV: ID of a key or customer, and how long an entry stays, ms.
call('ZREMRANGEBYSCORE', KEYS[1], '-inf', clock - ARGV[3])
call('ZADD', KEYS[1], clock, ARGV[2])
call('PEXPIRE', KEYS[1], ARGV[3])
