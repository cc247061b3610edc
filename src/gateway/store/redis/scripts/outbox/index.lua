-- KEYS: the sets of waiting and of due events. ARGV: ID, when it happens, and the minimum ms until it is due.
call('ZADD', KEYS[1], ARGV[3], ARGV[2])
call('ZADD', KEYS[2], max(clock + ARGV[4], tonumber(ARGV[3])), ARGV[2])
