-- KEYS: the waiting and the due events. ARGV: id, when it happens, in how many ms it is due at the soonest.
call('ZADD', KEYS[1], ARGV[3], ARGV[2])
call('ZADD', KEYS[2], max(clock + ARGV[4], tonumber(ARGV[3])), ARGV[2])
return pack('<d', clock) .. '1'
